/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in the text formats: a table of demangled names with what they read like
 * in full (raw, folded) and elided (pmp), and that no name, however odd, leaves a
 * word with a blank, takes long or is empty.
 */
#include <time.h>

#include "lib/tap.h"
#include "write/names.h"

struct name_case {
	const char *name;
	const char *full;
	const char *elided; /* NULL: the same */
};

static const struct name_case cases[] = {
	/* C */
	{ "main", "main", NULL },
	{ "poll@@GLIBC_2.2.5", "poll", NULL },
	{ "poll@plt", "poll@plt", NULL },
	{ "helper.constprop.0", "helper.constprop.0", NULL },
	{ "_GLOBAL__sub_I_x", "_GLOBAL__sub_I_x", NULL },
	{ "", "[unknown]", NULL },
	{ " ", "_", NULL },

	/* parameters */
	{ "do_command(THD*)", "do_command", NULL },
	{ "A::f() const", "A::f", NULL },
	{ "A::f(int) const &", "A::f", NULL },
	{ "A::f(int) &&", "A::f", NULL },
	{ "A::f() volatile", "A::f", NULL },
	{ "A::f(int) noexcept", "A::f", NULL },
	{ "f(void (*)(int), char)", "f", NULL },
	{ "f(int (&)[3])", "f", NULL },
	{ "f(unsigned long, ...)", "f", NULL },
	{ "f(std::map<int, A<3> >)", "f", NULL },
	{ "f(A<((x)>(y))>)", "f", NULL },
	{ "A::~A()", "A::~A", NULL },
	{ "f[abi:cxx11](int)", "f[abi:cxx11]", NULL },
	{ "f(int)@plt", "f@plt", NULL },
	{ "f(int) [clone .isra.0]", "f.isra.0", NULL },
	{ "f(int) const [clone .part.2] [clone .cold]", "f.part.2.cold", NULL },
	{ "operator new(unsigned long) [clone .cold]", "operator_new.cold", NULL },

	/* what a function returns */
	{ "void f<int>(int)", "f<int>", "f<>" },
	{ "unsigned long f<int>(int)", "f<int>", "f<>" },
	{ "std::map<int, A>& B::f<int>() const", "B::f<int>", "B::f<>" },
	{ "int&& std::forward<int>(int&)", "std::forward<int>", "std::forward<>" },
	{ "decltype ((a)+(b)) f<int>(int)", "f<int>", "f<>" },
	{ "decltype(auto) f<int>(int)", "f<int>", "f<>" },
	{ "auto f<int>(int)", "f<int>", "f<>" },
	{ "bool (anonymous namespace)::f<int>(int)", "{anonymous}::f<int>",
	  "{anonymous}::f<>" },
	{ "void (*f<int>(int))(char)", "f<int>", "f<>" },
	{ "void (*A::f<int>(int) const)(char)", "A::f<int>", "A::f<>" },
	{ "int (&f<3>())[3]", "f<3>", "f<>" },
	{ "int (A::*f<int>(int))(char) const", "f<int>", "f<>" },
	{ "std::enable_if<(1)>(0), int>::type f<int>()", "f<int>", "f<>" },
	{ "main::{lambda(int)#1} const& std::forward<int>(int&)", "std::forward<int>",
	  "std::forward<>" },

	/* templates */
	{ "std::map<int, int>::find(int const&)", "std::map<int,int>::find",
	  "std::map<>::find" },
	{ "A<B<C<int> > >::f(int)", "A<B<C<int>>>::f", "A<>::f" },
	{ "A<unsigned long, char const*>::f()", "A<unsigned_long,char_const*>::f",
	  "A<>::f" },
	{ "std::function<void (int)>::operator()(int) const",
	  "std::function<void(int)>::operator()", "std::function<>::operator()" },
	{ "A<void (*)(int, char)>::f()", "A<void(*)(int,char)>::f", "A<>::f" },
	{ "A<((3)>(2))>::f()", "A<((3)>(2))>::f", "A<>::f" },
	{ "A<((3)<(2))>::f()", "A<((3)<(2))>::f", "A<>::f" },
	{ "A<(char)60>::f()", "A<(char)60>::f", "A<>::f" },
	{ "A<B<int> const&>::f()", "A<B<int>_const&>::f", "A<>::f" },
	{ "A<&(operator<(A, B))>::f()", "A<&(operator<(A,B))>::f", "A<>::f" },
	{ "A<(anonymous namespace)::B>::f()", "A<{anonymous}::B>::f", "A<>::f" },
	{ "A<int>::B<char>::f<long>(long)", "A<int>::B<char>::f<long>", "A<>::B<>::f<>" },

	/* operators */
	{ "A::operator()(int) const", "A::operator()", NULL },
	{ "A::operator()<int>(int) const", "A::operator()<int>", "A::operator()<>" },
	{ "A::operator[](int)", "A::operator[]", NULL },
	{ "A::operator->() const", "A::operator->", NULL },
	{ "A<int>::operator->*(int)", "A<int>::operator->*", "A<>::operator->*" },
	{ "operator==(A const&, A const&)", "operator==", NULL },
	{ "A::operator<(A const&) const", "A::operator<", NULL },
	{ "A::operator>>(int)", "A::operator>>", NULL },
	{ "A::operator<=>(A const&) const", "A::operator<=>", NULL },
	{ "A::operator>>=(int)", "A::operator>>=", NULL },
	{ "bool operator< <int>(A<int>, int)", "operator<<int>", "operator<<>" },
	{ "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char)",
	  "std::operator<<<std::char_traits<char>>", "std::operator<<<>" },
	{ "bool operator<<int>(A<int>, int)", "operator<<int>", "operator<<>" },
	{ "operator,(A, B)", "operator,", "operator:" },
	{ "operator new(unsigned long)", "operator_new", NULL },
	{ "operator new[](unsigned long)", "operator_new[]", NULL },
	{ "operator delete(void*, unsigned long)", "operator_delete", NULL },
	{ "operator delete[](void*)", "operator_delete[]", NULL },
	{ "operator co_await(A)", "operator_co_await", NULL },
	{ "operator\"\" _km(long double)", "operator\"\"_km", NULL },
	{ "A::operator unsigned long() const", "A::operator_unsigned_long", NULL },
	{ "A::operator std::map<int, int>() const", "A::operator_std::map<int,int>",
	  "A::operator_std::map<>" },
	{ "A<int>::operator int*<int>() const", "A<int>::operator_int*<int>",
	  "A<>::operator_int*<>" },
	{ "Q::operator void (*)(int)() const", "Q::operator_void(*)(int)",
	  "Q::operator_void()()" },
	{ "my_operator(int)", "my_operator", NULL },
	{ "operators::f(int)", "operators::f", NULL },
	{ "A::operator B()::{lambda()#1}::operator()() const",
	  "A::operator_B::{lambda()#1}::operator()", NULL },

	/* local and nameless things */
	{ "(anonymous namespace)::f(int)", "{anonymous}::f", NULL },
	{ "a::(anonymous namespace)::B::f()", "a::{anonymous}::B::f", NULL },
	{ "(anonymous class)::f()", "{anonymous_class}::f", NULL },
	{ "main::{lambda(int)#1}::operator()(int) const",
	  "main::{lambda(int)#1}::operator()", "main::{lambda()#1}::operator()" },
	{ "f(int)::{lambda(std::map<int, int>, char)#2}::operator()() const",
	  "f::{lambda(std::map<int,int>,char)#2}::operator()",
	  "f::{lambda()#2}::operator()" },
	{ "A::f(int) const::{lambda()#1}::_FUN()", "A::f::{lambda()#1}::_FUN", NULL },
	{ "auto f()::{lambda(auto:1)#1}::operator()<int>(int) const",
	  "f::{lambda(auto:1)#1}::operator()<int>", "f::{lambda()#1}::operator()<>" },
	{ "f(int)::Local::g(char)", "f::Local::g", NULL },
	{ "f()::'lambda'(int)::operator()(int) const", "f::'lambda'::operator()", NULL },
	{ "{unnamed type#1}::f()", "{unnamed_type#1}::f", NULL },
	{ "non-virtual thunk to A::f(int)", "non-virtual_thunk_to_A::f", NULL },
	{ "virtual thunk to A<int>::f(int)", "virtual_thunk_to_A<int>::f",
	  "virtual_thunk_to_A<>::f" },
	{ "guard variable for f(int)::x", "guard_variable_for_f::x", NULL },

	/* other languages */
	{ "<alloc::vec::Vec<T, A> as core::ops::Drop>::drop",
	  "<alloc::vec::Vec<T,A>_as_core::ops::Drop>::drop",
	  "<alloc::vec::Vec<>_as_core::ops::Drop>::drop" },
	{ "<&mut T as core::fmt::Debug>::fmt", "<&mut_T_as_core::fmt::Debug>::fmt",
	  NULL },
	{ "<fn(A) -> B as X<(C, D)>>::f", "<fn(A)->B_as_X<(C,D)>>::f",
	  "<fn()->B_as_X<>>::f" },
	{ "core::slice::<impl [T]>::len", "core::slice::<impl_[T]>::len", NULL },
	{ "<dyn core::any::Any>::type_id", "<dyn_core::any::Any>::type_id", NULL },
	{ "a::b::{{closure}}", "a::b::{{closure}}", NULL },
	{ "f::<u8, u16>", "f::<u8,u16>", "f::<>" },
	{ "core::ops::FnOnce::call_once{{vtable.shim}}",
	  "core::ops::FnOnce::call_once{{vtable.shim}}", NULL },
	{ "main.(*T).f", "main.(*T).f", NULL },
	{ "net/http.(*conn).serve", "net/http.(*conn).serve", NULL },
	{ "main.(*T).f.func1", "main.(*T).f.func1", NULL },
	{ "main.F[go.shape.int_0]", "main.F[go.shape.int_0]", NULL },
	{ "-[Foo bar:baz:]", "-[Foo_bar:baz:]", NULL },
	{ "LazyCompile:*f /a/x.js:12", "LazyCompile:*f_/a/x.js:12", NULL },

	/* hostile */
	{ "a;b", "a:b", NULL },
	{ "a\nb", "a?b", NULL },
	{ "\033]0;x\a", "?]0:x?", NULL },
	{ "a\xff\xc3\xa9", "a?\xc3\xa9", NULL },
	{ "a,b", "a,b", "a:b" },
	{ "f(((", "f(((", NULL },
	{ ")))", ")))", NULL },
	{ "a<b", "a<b", NULL },
	{ "<", "<", NULL },
	{ "(", "(", NULL },
	{ "()", "()", NULL },
	{ "f(int", "f(int", NULL },
	{ "f<int)>", "f<int)>", NULL },
	{ "operator", "operator", NULL },
	{ "operator ", "operator_", NULL },
	{ "void (*", "void_(*", NULL },
	{ "void (*)(int)", "(*)", NULL },
	{ "worker 12", "worker_12", NULL },
};

static const char *function_text(struct pmp_buf *buf, const char *name, bool elide)
{
	pmp_buf_clear(buf);
	pmp_name_function(buf, name, elide);
	return buf->data;
}

static void test_table(struct pmp_buf *buf)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct name_case *one = &cases[i];
		const char *elided = one->elided ? one->elided : one->full;

		is_str(function_text(buf, one->name, false), one->full, "'%s'",
		       one->name);
		is_str(function_text(buf, one->name, true), elided, "'%s' elided",
		       one->name);
	}
}

/* Every part of every name, and with each byte replaced by something worse. */
static void test_damage(struct pmp_buf *buf)
{
	static const char worse[] = "<>()[]{} ;,*&\n\xff";
	unsigned bad = 0, tried = 0;
	char name[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = strlen(cases[i].name);

		for (size_t at = 0; at < length * sizeof(worse); at++) {
			size_t place = at / sizeof(worse);
			const char *text;

			memcpy(name, cases[i].name, length + 1);
			name[place] = worse[at % sizeof(worse)];
			for (int elide = 0; elide < 2; elide++) {
				text = function_text(buf, name, elide);
				tried++;
				bad += !*text || strpbrk(text, " ;\n\t") ||
				       (elide && strchr(text, ','));
			}
		}
	}
	is_int(bad, 0, "%u damaged names are words", tried);
}

/* Length and depth: in time that grows with the length only. */
static void test_size(struct pmp_buf *buf)
{
	static const char *const parts[] = {
		"<",
		"(",
		"{",
		"a<",
		"f()::",
		"(*",
		"operator",
		"operator<",
		"(a ",
		"{<",
		"[(<a>",
		"x ",
		"::(anonymous namespace)",
		"A<int>::",
		" const",
		" [clone ",
		"(a)",
		"@",
	};
	size_t size = 200000;
	char *name = malloc(size + 1);
	clock_t start = clock();

	if (!name)
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = strlen(parts[i]);

		for (size_t at = 0; at < size; at++)
			name[at] = parts[i][at % length];
		name[size] = '\0';
		for (int elide = 0; elide < 2; elide++) {
			const char *text = function_text(buf, name, elide);

			ok(*text && !strchr(text, ' '), "%zu bytes of '%s'%s", size,
			   parts[i], elide ? " elided" : "");
		}
	}
	ok(clock() - start < 20 * CLOCKS_PER_SEC, "they do not take long: %.2f s",
	   (double)(clock() - start) / CLOCKS_PER_SEC);
	free(name);
}

static const char *frame_text(struct pmp_buf *buf, const struct pmp_frame *frame,
			      struct pmp_name_style style)
{
	pmp_buf_clear(buf);
	pmp_name_frame(buf, frame, &style);
	return buf->data;
}

#define STYLE(...) ((struct pmp_name_style){ __VA_ARGS__ })

static void test_frames(struct pmp_buf *buf)
{
	struct pmp_frame frame = {
		.function = "f<int, char>(int)",
		.file = "/src/a b.c",
		.line = 7,
		.module = "/usr/lib/lib,x.so",
	};

	is_str(frame_text(buf, &frame, STYLE(0)), "f<int,char>", "a frame");
	is_str(frame_text(buf, &frame, STYLE(.module = true)), "f<int,char>(lib,x.so)",
	       "a frame with its module");
	is_str(frame_text(buf, &frame, STYLE(.elide = true, .module = true)),
	       "f<>(lib:x.so)", "elided, with its module: no comma");
	is_str(frame_text(buf, &frame, STYLE(.lines = true, .module = true)),
	       "f<int,char>(a\\040b.c:7)", "a frame with its line");
	frame.file = NULL;
	frame.module = "[vdso]";
	is_str(frame_text(buf, &frame, STYLE(.lines = true, .module = true)),
	       "f<int,char>", "a module that is no file is not named");
	frame.signal = true;
	is_str(frame_text(buf, &frame, STYLE(.elide = true)), "<signal_handler_called>",
	       "a signal frame");
	frame.signal = false;
	frame.unnamed = true;
	frame.function = "[my lib(1).so+0x10]";
	is_str(frame_text(buf, &frame, STYLE(.elide = true)), "[my_lib(1).so+0x10]",
	       "a placeholder is not taken for a name");
}

static void test_words(struct pmp_buf *buf)
{
	pmp_buf_clear(buf);
	pmp_name_word(buf, "conn 17;\033");
	is_str(buf->data, "conn_17:?", "a thread's name");
	pmp_buf_clear(buf);
	pmp_name_word(buf, "");
	is_str(buf->data, "[unknown]", "a thread without a name");
	pmp_buf_clear(buf);
	pmp_name_path(buf, "/a b/c\\d\n\xffz");
	is_str(buf->data, "/a\\040b/c\\134d\\012\\377z", "a path");
	pmp_buf_clear(buf);
	pmp_name_path(buf, "");
	is_str(buf->data, "[unknown]", "an empty path");
	pmp_buf_clear(buf);
	pmp_name_end(buf, PMP_END_NOT_STOPPED, "D; vfork\n");
	is_str(buf->data, "[not stopped: D: vfork?]", "a thread that was not stopped");
	pmp_buf_clear(buf);
	pmp_name_end(buf, PMP_END_NO_INFO, "");
	ok(strncmp(buf->data, "[truncated: ", 12) == 0, "a truncated stack: %s",
	   buf->data);
	pmp_buf_clear(buf);
	pmp_name_end(buf, PMP_END_ROOT, "");
	is_int(buf->length, 0, "a complete stack has no mark");
}

int main(void)
{
	struct pmp_buf buf = { 0 };

	test_table(&buf);
	test_damage(&buf);
	test_size(&buf);
	test_frames(&buf);
	test_words(&buf);
	pmp_buf_free(&buf);
	return done_testing();
}
