/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling: C++, both Rust forms, what is neither, and names made to explode. */
#include "lib/tap.h"

#include "base/buf.h"
#include "base/clock.h"
#include "resolve/demangle.h"

static const char *readable(const char *symbol)
{
	static struct pmp_buf buf;

	pmp_buf_free(&buf);
	pmp_buf_puts(&buf, "x");
	if (!pmp_demangle(symbol, &buf))
		return strcmp(buf.data, "x") == 0 ? "-" : "changed without success";
	return buf.data + 1;
}

static void test_names(void)
{
	static const struct {
		const char *symbol, *want;
	} names[] = {
		{ "_ZN2ns3fooEi", "ns::foo(int)" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back(int&&)" },
		{ "_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()" },
		{ "_ZN2ns3fooEi.cold", "ns::foo(int) [clone .cold]" },
		{ "_Z1fv.part.0.constprop.1",
		  "f() [clone .part.0] [clone .constprop.1]" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		  "core::fmt::Formatter::pad" },
		{ "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt"
		  "17h0123456789abcdefE",
		  "<alloc::string::String as core::fmt::Debug>::fmt" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvNtCs1234_7mycrate3mod4func", "mycrate::mod::func" },
		{ "main", "-" },
		{ "foo.cold", "-" },
		{ "_Z", "-" },
		{ "_ZN", "-" },
		{ "_R", "-" },
		{ "_Znonsense", "-" },
		{ "", "-" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		is_str(readable(names[i].symbol), names[i].want, "%.60s",
		       names[i].symbol);
}

/* A reference back to a position. */
static void backref(unsigned at, char text[8])
{
	const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (at == 0)
		snprintf(text, 8, "B_");
	else if (at <= 62)
		snprintf(text, 8, "B%c_", digits[at - 1]);
	else
		snprintf(text, 8, "B%c%c_", digits[(at - 1) / 62], digits[(at - 1) % 62]);
}

/*
 * Each parameter is a template of two times the one before, referred to by its
 * number in base 36: A<S0_,S0_>, A<S2_,S2_>, ... 40 of them are 2^40 characters.
 */
static void test_explosion(void)
{
	struct pmp_buf name = { 0 };
	uint64_t start = pmp_clock();

	pmp_buf_puts(&name, "_Z1f1AIiiE");
	for (unsigned i = 0; i < 40; i++) {
		const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char last[8];

		if (i < 36)
			snprintf(last, sizeof(last), "S%c_", digits[i]);
		else
			snprintf(last, sizeof(last), "S1%c_", digits[i - 36]);
		pmp_buf_printf(&name, "S_I%s%sE", last, last);
	}
	is_str(readable(name.data), "-", "C++: 400 characters that stand for 2^40");
	pmp_buf_clear(&name);
	/* Rust: each tuple is twice the one before it. The positions are those of
	 * the tuples, in base 62 and less one, from behind the _R. */
	pmp_buf_puts(&name, "_RINvC1a1fTmmE");
	for (unsigned i = 0, at = 8; i < 30; i++) {
		unsigned begin_of_this = (unsigned)name.length - 2;
		char back[8];

		backref(at, back);
		pmp_buf_printf(&name, "T%s%sE", back, back);
		at = begin_of_this;
	}
	pmp_buf_putc(&name, 'E');
	is_str(readable(name.data), "-", "Rust: the same");
	ok(pmp_clock() - start < 5 * PMP_S, "names that grow do not take for ever");
	pmp_buf_clear(&name);
	pmp_buf_puts(&name, "_Z1f");
	for (unsigned i = 0; i < 1000000; i++)
		pmp_buf_putc(&name, 'P');
	is_str(readable(name.data), "-", "a million characters");
	pmp_buf_free(&name);
}

int main(void)
{
	test_names();
	test_explosion();
	readable("");
	return done_testing();
}
