/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters: replacements, expressions that are refused, recursion, what is idle, groups
 * of threads; and what is left of stacks, of entries, of runs and of the last sample.
 */
#include <time.h>

#include "libpmp-program.h"
#include "lib/tap.h"
#include <regex.h>
#include "report/filter.h"
#include "report/replace.h"
#include "report/report.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

#define LIBC "/usr/lib/libc.so.6"
#define DEMO "/usr/bin/demo"

static char long_name[20000];

static const struct fake_function fake_functions[] = {
	{ .name = "poll", .module = LIBC, .exact = true },
	{ .name = "inner", .module = DEMO, .inlined = true },
	{ .name = "outer(int)", .module = DEMO },
	{ .name = "main", .module = DEMO },
	{ .name = "start", .module = LIBC },
	{ .name = "loop", .module = DEMO },
	{ .name = "[demo+0x12]", .module = DEMO, .unnamed = true },
	{ .name = "<signal handler called>", .module = LIBC, .signal = true },
	{ .name = "bad\n\033[31m;\xff name", .module = "" },
	{ .name = "__lll_lock_wait", .module = LIBC, .exact = true },
	{ .name = "pthread_mutex_lock", .module = LIBC },
	{ .name = "pthread_cond_wait@@GLIBC_2.3.2", .module = LIBC, .exact = true },
	{ .name = long_name, .module = DEMO },
};

#include "lib/fakenames.h"

enum {
	POLL,
	INNER,
	OUTER,
	MAIN,
	START,
	LOOP,
	UNNAMED,
	SIGNAL,
	BAD,
	LLL,
	MUTEX,
	COND,
	LONG
};

/* ---- expressions ----------------------------------------------------------------- */

static void test_replace(void)
{
	static const struct {
		const char *command, *name, *want; /* NULL: does not match */
	} cases[] = {
		{ "s/a/b/", "banana", "bbnana" },
		{ "s/a/b/g", "banana", "bbnbnb" },
		{ "s/x/y/", "banana", NULL },
		{ "s/^(.*)_(.*)$/\\2_\\1/", "a_b_c", "c_a_b" },
		{ "s/n(a)/[&\\1]/g", "banana", "ba[naa][naa]" },
		{ "s/a/\\&\\\\/", "a", "&\\" },
		{ "s/a/\\0\\0/", "xax", "xaax" },
		{ "s,/,:,g", "a/b/c", "a:b:c" },
		{ "s|a\\|b|\\||", "a|b", "||b" },
		{ "s/\\//|/g", "a/b", "a|b" },
		{ "s/<.*>//", "std::map<int>::find", "std::map::find" },
		{ "s/x*/-/g", "abc", "-a-b-c-" },
		{ "s/b*/-/g", "abc", "-a-c-" },
		{ "s/a*/x/g", "baac", "xbxcx" },
		{ "s/^a//g", "aaa", "aa" },
		{ "s/a$/b/g", "aaa", "aab" },
		{ "s/.*//", "abc", "" },
		{ "s/[/]/x/", "a/b", "?" },
		{ "s/(a)|(b)/[\\1\\2]/g", "ab", "[a][b]" },
		{ "s/$/!/", "abc", "abc!" },
		/* A group of what is looked at behind, where something has been replaced. */
		{ "s/x.|(?<=(x).)a/[\\1]/g", "xyabc", "[][x]bc" },
		{ "s/x|(?<=(x))a/[\\1]/g", "xab", "[][x]b" },
	};
	char buffer[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pmp_expression expression;
		int code =
			pmp_expression_parse(&expression, cases[i].command, false, NULL);

		if (code == 0)
			code = pmp_expression_replace(&expression, cases[i].name, buffer,
						      sizeof(buffer));
		if (code < 0)
			snprintf(buffer, sizeof(buffer), "?");
		is_str(buffer, cases[i].want ? cases[i].want : cases[i].name, "%s of %s",
		       cases[i].command, cases[i].name);
		if (code >= 0)
			is_int(code, cases[i].want != NULL, "which matches or not");
		pmp_expression_free(&expression);
	}
}

static void test_small_buffer(void)
{
	struct pmp_expression expression;
	char buffer[8] = "xxxxxxx";

	pmp_expression_parse(&expression, "s/a/bbbb/g", false, NULL);
	is_int(pmp_expression_replace(&expression, "aaaaaaaaaa", buffer, 6), 1,
	       "it matches");
	is_str(buffer, "bbbbb", "what does not fit is cut off");
	is_int(buffer[6], 'x', "and nothing is written behind it");
	is_int(pmp_expression_replace(&expression, "a", buffer, 1), 1,
	       "a buffer for nothing");
	is_str(buffer, "", "has nothing");
	pmp_expression_free(&expression);
}

static const char *const good[] = {
	"a",
	"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
	"[]a]",
	"[^]{5000}]",
	"[[:alpha:]_]+",
	"a{1000}",
	"\\{9999",
	"(a+)+",
	"a\\\\1",
	"x\\\\<y",
	"[[:<:]]a[[:>:]]",
	"(?i)a(?=b)",
	"x?y*z+",
	"^[^$]$",
	"(^A$)|(^B$)|(^C$)|(^D$)|(^E$)|(^F$)|(^G$)|(^H$)|(^I$)|(^J$)",
	"\\bfoo\\b.*(<.*>)?::[^(]*\\(.*\\)$",
	"(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)",
	"^^^^^^^^",
	"x(a?){64}",
	"(^a|b)?",
	"((a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*)(a*|b*))*",
	"(a?b?){500}$",
};
static const char *const bad[] = {
	"",
	"(",
	"[a",
	"*(a",
	"(a)\\1",
	"a{65536}",
	"((a{200}){200}){200}",
	"a{1,99999999999999999999999999}",
	"a{5}{5}{5}{5}{5}",
	"a**",
	"*a",
	"[[.-.]]",
	"\\C",
	"\\",
	/* These would mean the characters. */
	"\\<x",
	"x\\>",
	"\\\\\\<x",
	"\\`x\\'",
};

static void test_refused(void)
{
	static const char *const replacements[] = {
		"",	    "s",	  "s/",	    "s/a",	 "s/a/",
		"s/a/b",    "x/a/b/",	  "s//b/",  "s/a/b/i",	 "s/a/b/gg",
		"s/a/\\1/", "s/(a)/\\2/", "s/(/b/", "s\\a\\b\\", "s/a/b\\/",
	};
	struct pmp_filter *filter;
	struct pmp_error err;

	pmp_filter_new(&filter, NULL);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		is_int(pmp_filter_add(filter, PMP_FILTER_HIDE, good[i], &err), 0, "%s",
		       good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		is_int(pmp_filter_add(filter, PMP_FILTER_FOCUS, bad[i], &err), PMP_EINVAL,
		       "refused: %s", bad[i]);
	for (size_t i = 0; i < sizeof(replacements) / sizeof(*replacements); i++)
		is_int(pmp_filter_add(filter, PMP_FILTER_RENAME, replacements[i], &err),
		       PMP_EINVAL, "refused: %s: %s", replacements[i], err.message);
	is_int(pmp_filter_add(filter, PMP_FILTER_COUNT, "a", &err), PMP_EINVAL,
	       "no such kind");
	pmp_filter_free(filter);
	pmp_filter_free(NULL);
}

static void test_too_much(void)
{
	struct pmp_filter *filter;
	struct pmp_error err;
	char text[3000];

	pmp_filter_new(&filter, NULL);
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	is_int(pmp_filter_add(filter, PMP_FILTER_FOCUS, text, &err), PMP_EINVAL,
	       "too long");
	is_int(pmp_filter_add(filter, PMP_FILTER_FOCUS, text + 2500, &err), 0,
	       "not too long");
	memset(text, '(', 400);
	memset(text + 500, ')', 400);
	text[900] = '\0';
	is_int(pmp_filter_add(filter, PMP_FILTER_FOCUS, text, &err), PMP_EINVAL,
	       "too deep");
	for (int i = 0; i < 1000 && !pmp_filter_add(filter, PMP_FILTER_IGNORE, "a", NULL);
	     i++)
		;
	is_int(pmp_filter_add(filter, PMP_FILTER_IGNORE, "a", &err), PMP_EINVAL,
	       "too many");
	pmp_filter_free(filter);
}

static uint32_t random_state = 1;

static char mixed[PMP_EXPRESSION_NAME], same_letters[PMP_EXPRESSION_NAME];

/* CPU ms of names that are long, and alike from place to place; no more than a second. */
static double time_all(const struct pmp_filter *filter, int names)
{
	clock_t begin = clock();

	for (int i = 0; i < names && clock() - begin < CLOCKS_PER_SEC; i++) {
		const char *name = i % 3 == 0	? mixed
				   : i % 3 == 1 ? long_name
						: same_letters;

		pmp_filter_matches(filter, PMP_FILTER_FOCUS, name);
	}
	return (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC;
}

#define CLASS \
	"[^" PROPERTIES PROPERTIES PROPERTIES PROPERTIES PROPERTIES PROPERTIES \
		PROPERTIES "]"
#define PROPERTIES \
	"\\p{Cc}\\p{Cf}\\p{Lm}\\p{Lo}\\p{Lt}\\p{Lu}\\p{Mn}\\p{Nd}\\p{No}\\p{Zs}"

/* Nothing takes long, whatever the names, and however many there are. */
static void test_bounded(void)
{
	static const struct {
		const char *text;
		bool fails;
	} cases[] = {
		{ "(a*)*b", false },
		{ "((a*)*)*[cd]", true },
		{ "((a|b)*)*(a|b|ab)*[cd]", true },
		{ "(x+x+)+y", false }, /* there is no y: that is seen at once */
		{ "(x+x+)+[yz]", true },
		{ "(a?b?){28}$", true },
		{ "(.*)(.*)(.*)[cd]", true },
		{ "(((a|b)*){2}x){9}[yz]", true },
		{ "(.|x)*a.{500}x", true },
		/* Nothing of this adds up at one place, but there are 4095. */
		{ "a*a{900}^", true },
		{ "(?:a{1,1000}){1,1000}[cd]", true },
		{ "(?:a*?b?)*?(?>a{3000}[cd])", true },
		{ "(?R)?(?R)?a", true },
		/* It looks at much and fails, without a step. */
		{ "x*[^b]{3000}", true },
		/* Each character takes long. */
		{ "(?:" CLASS "*)[YZ]", true },
		{ "x*" CLASS "{3000}+y?", true },
		{ "(push|find|x|a)_back", false },
	};
	struct pmp_filter_options options = { .size = sizeof(options),
					      .of_strangers = true };

	for (size_t i = 0; i < sizeof(mixed) - 1; i++) {
		random_state = random_state * 1103515245 + 12345;
		mixed[i] = random_state >> 30 ? 'a' : 'b';
		same_letters[i] = 'x';
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pmp_filter *filter;
		struct pmp_error err = { 0 };
		char shown[40];
		double took;

		snprintf(shown, sizeof(shown), "%s", cases[i].text);
		pmp_filter_new(&filter, NULL);
		pmp_filter_set(filter, &options);
		is_int(pmp_filter_add(filter, PMP_FILTER_FOCUS, cases[i].text, &err), 0,
		       "%s", cases[i].text);
		took = time_all(filter, 3000);
		ok(took < 250, "at 3000 names: %.1f ms", took);
		is_int(pmp_filter_problem(filter, &err), cases[i].fails ? PMP_ELIMIT : 0,
		       "%s", err.message);
		if (cases[i].fails)
			ok(strstr(err.message, shown), "that has the expression");
		ok(!cases[i].fails || time_all(filter, 3000) < 20,
		   "from then on it takes nothing");
		pmp_filter_free(filter);
	}
	is_int(pmp_filter_problem(NULL, NULL), 0, "without a filter there is no problem");
}

/* Each name costs less than is too much: all together they do not. */
static void test_sum(void)
{
	struct pmp_filter *filter;
	bool failed = false;
	int names = 0;

	for (int strangers = 0; strangers < 2; strangers++) {
		const struct pmp_filter_options options = { .size = sizeof(options),
							    .of_strangers = strangers };
		int before = names;

		pmp_filter_new(&filter, NULL);
		pmp_filter_set(filter, &options);
		pmp_filter_add(filter, PMP_FILTER_FOCUS, "(.*)(.*)(.*)[yz]", NULL);
		for (names = 0; names < 100000 && !failed; names++) {
			char buffer[64];

			failed = pmp_filter_has_failed(pmp_filter_function(
				filter, "abababababababababababababababababababab", NULL,
				"", buffer, sizeof(buffer)));
		}
		ok(failed && names > 10, "given up after %d names", names);
		ok(!strangers || names < before, "a stranger's is earlier");
		failed = false;
		pmp_filter_free(filter);
	}
}

static void test_utf8(void)
{
	static const struct {
		const char *command, *name, *want;
	} cases[] = {
		{ "s/./x/g", "a\303\274b", "xxx" },
		{ "s/x*/-/g", "\303\274\303\274", "-\303\274-\303\274-" },
		{ "s/x*/-/g", "\377\374\303", "-\377-\374-\303-" },
		{ "s/\303\274+/u/", "\303\274\303\274b", "ub" },
		{ "s/b./x/", "a\377bc\377", "a\377x\377" },
		{ "s/(.)\\n/\\1 /", "a\nb", "a b" },
		{ "s/a.b/x/", "a\nb", "x" },
		{ "s/a$/x/", "a\n", "a\n" },
		{ "s/[[:alpha:]]+[[:space:]]?/<&>/g", "ab c", "<ab ><c>" },
		{ "s/\303\234/x/", "\303\274", "x" },
		{ "s/b\\K(?=c)/-/", "abc", "ab-c" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pmp_expression expression;
		char buffer[64] = "?";

		pmp_expression_parse(&expression, cases[i].command, true, NULL);
		pmp_expression_replace(&expression, cases[i].name, buffer,
				       sizeof(buffer));
		is_str(buffer, cases[i].want, "%s", cases[i].command);
		pmp_expression_free(&expression);
	}
}

/* ---- what people have ------------------------------------------------------------ */

static unsigned take_random(uint32_t *random, unsigned limit)
{
	*random = *random * 1103515245 + 12345;
	return (*random >> 16) % limit;
}

/* Is an anchor written out again? The C library forgets it then. */
static bool forgets(const char *text)
{
	return strchr(text, '{') &&
	       (strpbrk(text, "^$") || strstr(text, "\\b") || strstr(text, "\\B"));
}

/* Does it mean something else, as POSIX leaves it open: (?:a), a*+? */
static bool differs(const char *text)
{
	for (const char *at = text; *at; at++)
		if (strchr("(|*+?}", *at) && at[1] && strchr("*+?{", at[1]))
			return true;
	return false;
}

static long compared;

static void compare_names(const char *text, bool ignore_case, uint32_t *random)
{
	struct pmp_regex *regex;
	char name[12];
	regex_t posix;

	if (pmp_regex_new(&regex, text, strlen(text), ignore_case, NULL))
		return;
	if (regcomp(&posix, text,
		    REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0))) {
		pmp_regex_free(regex);
		return;
	}
	for (int i = 0; i < 8; i++) {
		size_t length = take_random(random, sizeof(name));
		int want;

		for (size_t k = 0; k < length; k++)
			name[k] = "abABc_ -a"[take_random(random, 9)];
		name[length] = '\0';
		want = regexec(&posix, name, 0, NULL, 0) == 0;
		if (pmp_regex_matches(regex, name) != want)
			is_int(!want, want, "%s, %d, of %s", text, ignore_case, name);
		compared++;
	}
	regfree(&posix);
	pmp_regex_free(regex);
}

static void test_same(void)
{
	static const char *const parts[] = {
		"a",	"b",   "B",	      ".",	"(",   "(",	")",	")",
		"|",	"*",   "+",	      "?",	"{2}", "{1,3}", "{2,}", "^",
		"$",	"\\b", "\\B",	      "\\w",	"\\W", "[ab]",	"[^a]", "[]a-]",
		"[b-]", "\\.", "[[:upper:]]", "[A-Z_]", "()",  "\\s",	"}",
	};
	uint32_t random = 7;

	for (int i = 0; i < 60000; i++) {
		char text[100] = "";

		for (unsigned k = take_random(&random, 9); k < 9; k++)
			strcat(text, parts[take_random(&random,
						       sizeof(parts) / sizeof(*parts))]);
		if (!forgets(text) && !differs(text))
			compare_names(text, i % 4 == 0, &random);
	}
	ok(compared > 10000, "%ld names: what matches is what regexec() says", compared);
}

/* ---- rules ----------------------------------------------------------------------- */

static void test_fold(void)
{
	static const char *const cases[][2] = {
		/* from the root */
		{ "abc", "abc" },
		{ "abbbc", "abc" },
		{ "ababc", "abc" },
		{ "aaaa", "a" },
		{ "abcabcabcd", "abcd" },
		{ "ababa", "aba" },
		{ "aabaab", "ab" },
		{ "abcdefghabcdefgh", "abcdefgh" },
		{ "abcdefghiabcdefghi", "abcdefghiabcdefghi" },
		{ "", "" },
		{ "a", "a" },
		{ "abba", "aba" },
	};
	const struct pmp_filter_options options = { .size = sizeof(options),
						    .fold_recursion = true };
	struct pmp_filter *filter;

	pmp_filter_new(&filter, NULL);
	pmp_filter_set(filter, &options);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t functions[32], left[32];
		size_t count = strlen(cases[i][0]), n;
		char text[32] = "";

		for (size_t k = 0; k < count; k++)
			functions[count - 1 - k] = (unsigned char)cases[i][0][k];
		n = pmp_filter_fold(filter, functions, count, left);
		for (size_t k = 0; k < n; k++)
			text[n - 1 - k] = (char)functions[left[k]];
		is_str(text, cases[i][1], "recursion of %s", cases[i][0]);
		is_int(pmp_filter_fold(NULL, functions, count, left), count,
		       "without a filter it stays");
	}
	pmp_filter_free(filter);
}

/* Of a thread: is it idle? */
struct idle_case {
	const char *functions; /* innermost first, blanks between */
	char state;
	const char *syscall;
	bool idle;
};

static struct pmp_filter *idle_filter(void)
{
	struct pmp_filter *filter;

	pmp_filter_new(&filter, NULL);
	pmp_filter_add(filter, PMP_FILTER_IDLE_WAIT, "^wait_for_job$", NULL);
	pmp_filter_add(filter, PMP_FILTER_LOCK_MEANING, "s/^job_queue$/jobs/", NULL);
	pmp_filter_add(filter, PMP_FILTER_LOCK_MEANING, "s/^lock_wait$//", NULL);
	pmp_filter_add(filter, PMP_FILTER_RENAME, "s/.*/x/", NULL);
	return filter;
}

static void check_idle(const struct pmp_filter *filter, const struct idle_case *one)
{
	char text[256], buffer[64], *readable;
	pmp_marks marks[16];
	size_t count = 0;

	snprintf(text, sizeof(text), "%s", one->functions);
	for (char *at = text, *end; at; at = end) {
		end = strchr(at, ' ');
		if (end)
			*end++ = '\0';
		readable = strchr(at, '|');
		if (readable)
			*readable++ = '\0';
		marks[count++] =
			pmp_filter_function(filter, at, readable, "/usr/sbin/mariadbd",
					    buffer, sizeof(buffer));
	}
	is_int(pmp_filter_is_idle(pmp_filter_stack_marks(marks, count), one->state,
				  one->syscall),
	       one->idle, "%s in %s (%c)", one->functions, one->syscall, one->state);
}

static void check_idle_cases(const struct idle_case *cases, size_t count)
{
	struct pmp_filter *filter = idle_filter();

	for (size_t i = 0; i < count; i++)
		check_idle(filter, &cases[i]);
	pmp_filter_free(filter);
}

/* Some system calls are waits for something to do. */
static void test_idle_calls(void)
{
	static const struct idle_case cases[] = {
		{ "poll vio_io_wait", 'S', "poll", true },
		{ "poll vio_io_wait", 'R', "", false },
		{ "poll vio_io_wait", 'D', "poll", false },
		{ "poll vio_io_wait", 'S', "", true },
		{ "something", 'S', "epoll_wait", true },
		{ "something", 'S', "read", true },
		{ "something", 'S', "fsync", false },
		{ "something", 'S', "", false },
		{ "something", 'S', "futex", false },
	};

	check_idle_cases(cases, sizeof(cases) / sizeof(*cases));
}

/* In a futex the functions tell what it is. */
static void test_idle_functions(void)
{
	static const struct idle_case cases[] = {
		{ "__lll_lock_wait pthread_mutex_lock f", 'S', "futex", false },
		{ "__futex_abstimed_wait_common __pthread_rwlock_rdlock_full64 "
		  "___pthread_rwlock_rdlock",
		  'S', "futex", false },
		{ "__futex_abstimed_wait_common64 __pthread_cond_wait_common "
		  "___pthread_cond_wait",
		  'S', "futex", true },
		{ "futex_wait x ___pthread_cond_wait", 'S', "futex", true },
		{ "pthread_cond_wait@@GLIBC_2.3.2 worker", 'S', "futex", true },
		{ "__GI___poll main", 'S', "restart_syscall", true },
		{ "main", 'S', "restart_syscall", false },
		{ "runtime.futex runtime.futexsleep", 'S', "futex", true },
		{ "syscall std::thread::park", 'S', "futex", true },
		{ "syscall _ZN3std6thread4park17h0123456789abcdefE|std::thread::park",
		  'S', "futex", true },
		{ "syscall _ZN3std6thread4park17h0123456789abcdefE", 'S', "futex",
		  false },
		{ "a b c pthread_cond_wait", 'S', "futex", false },
	};

	check_idle_cases(cases, sizeof(cases) / sizeof(*cases));
}

/* What the filter, or what is known of programs, says of functions. */
static void test_idle_rules(void)
{
	static const struct idle_case cases[] = {
		{ "a b c d wait_for_job", 'S', "futex", true },
		{ "__lll_lock_wait wait_for_job", 'S', "futex", true },
		{ "a wait_for_job", 'R', "", false },
		{ "__futex_abstimed_wait_common64 ___pthread_cond_timedwait64 "
		  "inline_mysql_cond_timedwait MDL_wait::timed_wait acquire_lock",
		  'S', "futex", false },
		{ "__futex_abstimed_wait_common64 ___pthread_cond_wait64 a job_queue",
		  'S', "futex", false },
		{ "__futex_abstimed_wait_common64 ___pthread_cond_wait64 a lock_wait",
		  'S', "futex", true },
		{ "syscall std::sys::sync::mutex::futex::Mutex::lock_contended", 'S',
		  "futex", false },
		{ "syscall std::thread::park "
		  "parking_lot::raw_mutex::RawMutex::lock_slow",
		  'S', "futex", false },
		{ "epoll_wait WaitEventSetWait WaitLatch lock_wait ObjectMonitor::enter",
		  'S', "epoll_wait", false },
	};

	check_idle_cases(cases, sizeof(cases) / sizeof(*cases));
}

static void test_threads(void)
{
	struct pmp_filter_options options = { .size = sizeof(options) };
	struct pmp_filter *filter;
	char buffer[32];

	pmp_filter_new(&filter, NULL);
	ok(!pmp_filter_is_active(filter) && !pmp_filter_is_active(NULL),
	   "does nothing yet");
	is_str(pmp_filter_thread(filter, "conn-17", buffer, 32), "conn-N",
	       "digits are N");
	is_str(pmp_filter_thread(filter, "1a22b", buffer, 32), "NaNb", "wherever");
	is_str(pmp_filter_thread(filter, "123456", buffer, 2), "N", "in a small buffer");
	pmp_filter_add(filter, PMP_FILTER_THREAD_GROUP, "s/^h2-.*/h2/", NULL);
	ok(pmp_filter_is_active(filter), "a group is something");
	is_str(pmp_filter_thread(filter, "h2-17", buffer, 32), "h2",
	       "called by the filter");
	is_str(pmp_filter_thread(filter, "conn-17", buffer, 32), "conn-N", "or folded");
	options.no_fold_threads = true;
	pmp_filter_set(filter, &options);
	is_str(pmp_filter_thread(filter, "conn-17", buffer, 32), "conn-17", "or neither");
	is_str(pmp_filter_text(filter, PMP_FILTER_FOCUS), "", "no text");
	pmp_filter_add(filter, PMP_FILTER_FOCUS, "a", NULL);
	is_str(pmp_filter_text(filter, PMP_FILTER_FOCUS), "a", "one");
	pmp_filter_add(filter, PMP_FILTER_FOCUS, "b|c", NULL);
	pmp_filter_add(filter, PMP_FILTER_FOCUS, "d", NULL);
	is_str(pmp_filter_text(filter, PMP_FILTER_FOCUS), "(a)|(b|c)|(d)", "several");
	pmp_filter_free(filter);
}

/* Of a copy more is wanted than of what it was made of. */
static void test_copy(void)
{
	const struct pmp_filter_options ignore = {
		.size = sizeof(ignore), .ignore_case = true, .pid = 7, .tid = 8
	};
	struct pmp_filter_options options = { .size = sizeof(options) };
	struct pmp_filter *from, *copy;

	pmp_filter_new(&from, NULL);
	pmp_filter_add(from, PMP_FILTER_FOCUS, "^A$", NULL);
	pmp_filter_set(from, &ignore);
	pmp_filter_add(from, PMP_FILTER_FOCUS, "^B$", NULL);
	pmp_filter_add(from, PMP_FILTER_RENAME, "s/^x/y/", NULL);
	is_int(pmp_filter_copy(from, &copy, NULL), 0, "a copy");
	is_str(pmp_filter_text(copy, PMP_FILTER_FOCUS), "(^A$)|(^B$)", "its expressions");
	ok(pmp_filter_matches(copy, PMP_FILTER_FOCUS, "A") &&
		   !pmp_filter_matches(copy, PMP_FILTER_FOCUS, "a") &&
		   pmp_filter_matches(copy, PMP_FILTER_FOCUS, "b"),
	   "each as it was added");
	pmp_filter_get(copy, &options);
	ok(options.ignore_case && options.pid == 7 && options.tid == 8, "its options");
	ok(pmp_filter_passes_thread(copy, "any", 7, 8), "a thread by its number");
	ok(!pmp_filter_passes_thread(copy, "any", 7, 9), "another one");
	ok(!pmp_filter_passes_thread(copy, "any", 6, 8), "of another process");
	pmp_filter_add(copy, PMP_FILTER_IGNORE, "c", NULL);
	is_str(pmp_filter_text(from, PMP_FILTER_IGNORE), "", "what is added is its own");
	pmp_filter_free(from);
	is_str(pmp_filter_text(copy, PMP_FILTER_IGNORE), "c", "and it lives longer");
	pmp_filter_free(copy);
	is_int(pmp_filter_copy(NULL, &copy, NULL), 0, "of none");
	ok(!pmp_filter_is_active(copy), "one that changes nothing");
	pmp_filter_free(copy);
}

/* ---- profiles -------------------------------------------------------------------- */

struct setup {
	struct pmp_filter *filter;
	struct pmp_profile *profile;
	struct pmp_report *report;
};

static void set_up(struct setup *setup, const struct pmp_filter_options *flags,
		   struct pmp_profile_options options)
{
	options.size = sizeof(options);
	if (flags)
		pmp_filter_set(setup->filter, flags);
	options.for_filter = pmp_filter_wants_details(setup->filter);
	if (pmp_profile_new(&options, NULL, &setup->profile, NULL))
		abort();
}

/* What is left of all that was counted by now. */
static const struct pmp_report *report(struct setup *setup, bool snapshot)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .snapshot = snapshot };

	if (setup->report ? pmp_report_update(setup->report, NULL)
			  : pmp_report_new(setup->profile, setup->filter, &options,
					   &setup->report, NULL))
		abort();
	return setup->report;
}

static struct setup new_setup(enum pmp_filter_kind kind, const char *text)
{
	struct setup setup = { NULL, NULL, NULL };

	if (pmp_filter_new(&setup.filter, NULL) ||
	    (text && pmp_filter_add(setup.filter, kind, text, NULL)))
		abort();
	return setup;
}

static void tear_down(struct setup *setup)
{
	pmp_report_free(setup->report);
	pmp_profile_free(setup->profile);
	pmp_filter_free(setup->filter);
}

static struct pmp_sample *new_sample(uint64_t time)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = 10;
	sample->time = time;
	snprintf(sample->name, sizeof(sample->name), "demo");
	return sample;
}

static void add(struct pmp_profile *profile, struct pmp_sample *sample)
{
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
}

/* A thread with a stack, filtered: how it is shown, root first; NULL: it is not. */
static const char *shown(struct setup *setup, const int *functions)
{
	static char text[2 * PMP_EXPRESSION_NAME];
	const struct pmp_entry *entry;
	struct pmp_sample *sample;
	size_t length = 0;

	set_up(setup, NULL, (struct pmp_profile_options){ 0 });
	sample = new_sample(1);
	fake_thread(sample, 10, "a", functions)->end = PMP_END_DEPTH;
	add(setup->profile, sample);
	if (!report(setup, false)->entry_count) {
		tear_down(setup);
		return NULL;
	}
	entry = setup->report->entries;
	text[0] = '\0';
	if (entry->end != PMP_END_ROOT)
		length = (size_t)snprintf(text, sizeof(text), "...");
	for (size_t i = entry->location_count; i-- > 0;) {
		const struct pmp_frame *frames;
		size_t count =
			pmp_report_frames(setup->report, entry->locations[i], &frames);

		while (count-- > 0 && length < sizeof(text))
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "%s%s%s", length ? " " : "",
						   frames[count].function,
						   frames[count].inlined ? "^" : "");
	}
	tear_down(setup);
	return text;
}

static void test_stacks(void)
{
	static const struct {
		enum pmp_filter_kind kind;
		const char *text;
		const char *want; /* of start main outer inner poll, innermost last */
	} cases[] = {
		{ PMP_FILTER_FOCUS, "^main$", "... start main outer(int) inner^ poll" },
		{ PMP_FILTER_FOCUS, "^mai$", NULL },
		{ PMP_FILTER_WITHIN, "^main$", "... start main outer(int) inner^ poll" },
		{ PMP_FILTER_WITHIN, "^mai$", NULL },
		{ PMP_FILTER_THREAD, "^a$", "... start main outer(int) inner^ poll" },
		{ PMP_FILTER_THREAD, "^b$", NULL },
		{ PMP_FILTER_GROUP, "^a$", "... start main outer(int) inner^ poll" },
		{ PMP_FILTER_GROUP, "^N$", NULL },
		{ PMP_FILTER_IGNORE, "inner", NULL },
		{ PMP_FILTER_IGNORE, "nothing", "... start main outer(int) inner^ poll" },
		{ PMP_FILTER_HIDE, "inner", "... start main outer(int) poll" },
		{ PMP_FILTER_HIDE, "^outer\\(", "... start main inner poll" },
		{ PMP_FILTER_HIDE, "poll|start", "... main outer(int) inner^" },
		{ PMP_FILTER_HIDE, ".", "... [hidden]" },
		{ PMP_FILTER_HIDE_MODULE, "^libc", "... main outer(int) inner^" },
		{ PMP_FILTER_HIDE_MODULE, "^/usr/bin", "... start poll" },
		{ PMP_FILTER_SKIP_MODULE, "libc", NULL },
		{ PMP_FILTER_SKIP_MODULE, "demo",
		  "... start main outer(int) inner^ poll" },
		{ PMP_FILTER_TRIM_ROOT, "main", "main outer(int) inner^ poll" },
		{ PMP_FILTER_TRIM_ROOT, "inner", "inner poll" },
		{ PMP_FILTER_TRIM_ROOT, "o", "outer(int) inner^ poll" },
		{ PMP_FILTER_TRIM_ROOT, "xyz", "... start main outer(int) inner^ poll" },
		{ PMP_FILTER_RENAME, "s/\\(.*\\)//", "... start main outer inner^ poll" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct setup setup = new_setup(cases[i].kind, cases[i].text);
		const char *text = shown(&setup, FAKE_STACK(POLL, INNER, MAIN, START));

		is_str(text ? text : "-", cases[i].want ? cases[i].want : "-",
		       "filter %d: %s", (int)cases[i].kind, cases[i].text);
	}
}

static void test_several(void)
{
	const struct pmp_filter_options fold = { .size = sizeof(fold),
						 .fold_recursion = true };
	struct setup setup = new_setup(PMP_FILTER_HIDE, "^inner$|^main$");

	pmp_filter_set(setup.filter, &fold);
	is_str(shown(&setup,
		     FAKE_STACK(POLL, INNER, LOOP, MAIN, LOOP, MAIN, LOOP, START)),
	       "... start loop outer(int) poll", "recursion behind what is hidden");
	setup = new_setup(PMP_FILTER_FOCUS, "^inner$");
	pmp_filter_add(setup.filter, PMP_FILTER_HIDE, "^inner$", NULL);
	is_str(shown(&setup, FAKE_STACK(POLL, INNER)), "... outer(int) poll",
	       "a hidden function can be what is focused on");
	setup = new_setup(PMP_FILTER_RENAME, "s/^inner$/x/");
	pmp_filter_add(setup.filter, PMP_FILTER_FOCUS, "^inner$", NULL);
	is_str(shown(&setup, FAKE_STACK(POLL, INNER)) ? "shown" : "-", "-",
	       "its old name has gone");
	setup = new_setup(PMP_FILTER_RENAME, "s/^\\[.*/unknown/");
	is_str(shown(&setup, FAKE_STACK(UNNAMED, BAD)),
	       "... bad\n\033[31m;\xff name unknown", "bytes of any kind");
	setup = new_setup(PMP_FILTER_RENAME, "s/a/bb/g");
	is_int(strlen(shown(&setup, FAKE_STACK(LONG))), 4 + PMP_EXPRESSION_NAME - 1,
	       "a long name that is renamed is cut off");
	setup = new_setup(PMP_FILTER_HIDE, "nothing");
	ok(strlen(shown(&setup, FAKE_STACK(LONG))) > 4000, "else it is not");
	setup = new_setup(PMP_FILTER_HIDE, "a");
	is_str(shown(&setup, FAKE_NOTHING), "...", "a stack without functions");
}

/* Equal stacks are one, names are asked for late, and what is left is counted. */
static void test_entries(void)
{
	const struct pmp_filter_options flags = { .size = sizeof(flags),
						  .groups = true,
						  .idle = PMP_IDLE_HIDDEN };
	struct setup setup = new_setup(PMP_FILTER_HIDE, "^main$|^start$");
	struct pmp_report_info info = { .size = sizeof(info) };
	const struct pmp_entry *entry;
	struct pmp_sample *sample = new_sample(1);
	size_t before;

	set_up(&setup, &flags, (struct pmp_profile_options){ 0 });
	before = fake_names;
	fake_thread(sample, 10, "conn-1", FAKE_STACK(LOOP, MAIN));
	fake_thread(sample, 11, "conn-2", FAKE_STACK(LOOP, START));
	fake_thread(sample, 12, "conn-3", FAKE_STACK(POLL, MAIN));
	fake_thread(sample, 13, "other", FAKE_STACK(LOOP, START));
	fake_thread(sample, 14, "other", FAKE_STACK(COND, LOOP, START));
	fake_thread(sample, 15, "other", FAKE_STACK(LLL, MUTEX, LOOP, START));
	add(setup.profile, sample);
	is_int(fake_names, before, "counting asks for no name");
	is_int(report(&setup, false)->entry_count, 3, "what is the same is one");
	entry = setup.report->entries;
	is_int(entry->count, 2, "counted together");
	is_str(entry->thread, "conn-N", "by the name of the group");
	is_int(entry->tid, 0, "which is no thread");
	is_int(entry->location_count, 1, "of what is left");
	pmp_report_info(setup.report, &info);
	is_int(info.counted, 6, "all of them were counted");
	is_int(info.shown, 4, "idle ones are not shown");
	is_int(info.distinct, 3, "distinct ones");
	sample = new_sample(2);
	fake_thread(sample, 10, "conn-9", FAKE_STACK(LOOP, MAIN));
	add(setup.profile, sample);
	is_int(setup.report->entries[0].count, 2, "more is shown");
	is_int(report(&setup, false)->entries[0].count, 3, "when the report is updated");
	tear_down(&setup);
}

static void test_nothing(void)
{
	struct setup setup = new_setup(PMP_FILTER_IDLE_WAIT, "x");
	struct pmp_report_info info = { .size = sizeof(info) };
	struct pmp_sample *sample = new_sample(1);

	set_up(&setup, NULL, (struct pmp_profile_options){ .keep_snapshot = true });
	fake_thread(sample, 10, "a", FAKE_STACK(POLL, MAIN));
	add(setup.profile, sample);
	is_int(report(&setup, true)->snapshot->row_count, 1,
	       "a filter that does nothing");
	ok(setup.report->snapshot == pmp_profile_snapshot(setup.profile, 0),
	   "borrows the last sample");
	pmp_report_free(setup.report);
	setup.report = NULL;
	is_int(report(&setup, false)->entries[0].locations[1], MAIN,
	       "and changes no stack");
	ok(setup.report->entries == pmp_profile_entry(setup.profile, 0),
	   "which are borrowed");
	pmp_report_info(setup.report, &info);
	is_int(info.shown, 1, "all is shown");
	tear_down(&setup);
}

static void test_snapshot(void)
{
	struct setup setup = new_setup(PMP_FILTER_HIDE, "^poll$|signal");
	struct pmp_report_info info = { .size = sizeof(info) };
	struct pmp_sample *sample = new_sample(1);
	const struct pmp_snapshot *snapshot;

	pmp_filter_add(setup.filter, PMP_FILTER_IGNORE, "^loop$", NULL);
	pmp_filter_add(setup.filter, PMP_FILTER_TRIM_ROOT, "^main$", NULL);
	pmp_filter_add(setup.filter, PMP_FILTER_THREAD_GROUP, "s/b/B/", NULL);
	set_up(&setup, NULL, (struct pmp_profile_options){ .keep_snapshot = true });
	ok(!report(&setup, true)->snapshot, "no snapshot yet");
	fake_thread(sample, 12, "b1", FAKE_STACK(POLL, INNER, MAIN, START))->end =
		PMP_END_COPY;
	fake_thread(sample, 10, "a1", FAKE_STACK(LOOP, MAIN));
	fake_thread(sample, 11, "a1", FAKE_STACK(POLL));
	sample->frames[0].flags = PMP_FRAME_EXACT;
	add(setup.profile, sample);
	snapshot = report(&setup, true)->snapshot;
	is_int(snapshot->row_count, 2, "rows that pass");
	is_int(snapshot->info.threads, 3, "of all");
	is_int(snapshot->rows[0].thread->tid, 11, "by id");
	is_str(snapshot->rows[0].thread->name, "aN", "with the name of their group");
	is_int(snapshot->rows[0].thread->frame_count, 1, "nothing is left of it");
	is_int(snapshot->rows[0].raw[0].pc, 0, "nowhere");
	is_str(snapshot->rows[1].thread->name, "B1", "called by the filter");
	is_int(snapshot->rows[1].thread->frame_count, 2, "hidden and trimmed");
	is_int(snapshot->rows[1].thread->end, PMP_END_ROOT, "from its new root on");
	is_int(snapshot->rows[1].raw[0].pc, fake_pc(INNER) - 1,
	       "the new leaf is at its call");
	is_int(snapshot->rows[1].raw[1].pc, fake_pc(MAIN), "others behind theirs");
	pmp_report_info(setup.report, &info);
	is_int(info.shown, 2, "counted");
	add(setup.profile, new_sample(2));
	is_int(report(&setup, true)->snapshot->row_count, 0, "an empty one");
	pmp_report_info(setup.report, &info);
	is_int(info.shown, 2, "counts nothing");
	tear_down(&setup);
}

static void test_runs(void)
{
	static const int steps[] = { POLL, LOOP, POLL, POLL };
	struct setup setup = new_setup(PMP_FILTER_IGNORE, "^loop$");
	const struct pmp_run *runs;

	set_up(&setup, NULL,
	       (struct pmp_profile_options){ .details = true, .times = true });
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct pmp_sample *sample = new_sample(100 + i);

		fake_thread(sample, 10, "a", FAKE_STACK(steps[i]));
		add(setup.profile, sample);
	}
	runs = report(&setup, false)->runs;
	is_int(setup.report->run_count, 2, "runs that pass");
	is_int(runs[1].first, 102, "the second begins later");
	ok(runs[1].absent, "as if the thread had not been there");
	is_int(runs[1].entry, 0, "with an entry that is shown");
	tear_down(&setup);
	setup = new_setup(PMP_FILTER_THREAD_GROUP, "s/a/b/");
	set_up(&setup, NULL,
	       (struct pmp_profile_options){ .details = true, .times = true });
	ok(!report(&setup, false)->runs, "groups have no course of time");
	tear_down(&setup);
}

int main(void)
{
	memset(long_name, 'a', sizeof(long_name) - 1);
	test_replace();
	test_small_buffer();
	test_refused();
	test_too_much();
	test_bounded();
	test_sum();
	test_utf8();
	test_same();
	test_fold();
	test_idle_calls();
	test_idle_functions();
	test_idle_rules();
	test_threads();
	test_copy();
	test_stacks();
	test_several();
	test_entries();
	test_nothing();
	test_snapshot();
	test_runs();
	return done_testing();
}
