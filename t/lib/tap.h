/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Test Anything Protocol for tests in C: one line per assertion, the plan
 * last. A test is one main() that ends with `return done_testing();`.
 *
 *	ok(x > 3, "x is large: %d", x);
 *	is_int(got, want, "length");
 *	is_str(got, want, "name");
 *
 * Each returns whether it passed, so that dependent assertions can be skipped.
 */
#ifndef PMP_T_TAP_H
#define PMP_T_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_UNUSED __attribute__((unused))

static struct {
	unsigned run, failed;
} tap;

/* Print one line; a newline inside would end the TAP line early. */
__attribute__((format(printf, 1, 0))) static void tap_text(const char *format,
							   va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	for (const char *at = text; *at; at++)
		putchar(*at == '\n' ? ' ' : *at == '#' ? ';' : *at);
	putchar('\n');
	fflush(stdout);
}

/* Print a diagnostic line, which is not counted. */
__attribute__((format(printf, 1, 2))) TAP_UNUSED static void diag(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# ", stdout);
	tap_text(format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 0))) static void
tap_result(bool passed, const char *format, va_list args)
{
	tap.run++;
	tap.failed += !passed;
	printf("%sok %u - ", passed ? "" : "not ", tap.run);
	tap_text(format, args);
}

__attribute__((format(printf, 4, 5))) TAP_UNUSED static bool
tap_ok(bool passed, const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_result(passed, format, args);
	va_end(args);
	if (!passed)
		diag("at %s:%d", file, line);
	return passed;
}

__attribute__((format(printf, 5, 6))) TAP_UNUSED static bool
tap_is_int(long long got, long long want, const char *file, int line, const char *format,
	   ...)
{
	va_list args;

	va_start(args, format);
	tap_result(got == want, format, args);
	va_end(args);
	if (got != want)
		diag("at %s:%d: got %lld (0x%llx), want %lld (0x%llx)", file, line, got,
		     (unsigned long long)got, want, (unsigned long long)want);
	return got == want;
}

/* NULL only equals NULL. */
__attribute__((format(printf, 5, 6))) TAP_UNUSED static bool
tap_is_str(const char *got, const char *want, const char *file, int line,
	   const char *format, ...)
{
	bool same = got && want ? strcmp(got, want) == 0 : got == want;
	va_list args;

	va_start(args, format);
	tap_result(same, format, args);
	va_end(args);
	if (!same) {
		diag("at %s:%d", file, line);
		diag("got  \"%s\"", got ? got : "(null)");
		diag("want \"%s\"", want ? want : "(null)");
	}
	return same;
}

#define ok(passed, ...) tap_ok((passed), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) \
	tap_is_int((long long)(got), (long long)(want), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)

/*
 * Skip one assertion, as something is missing here. If everything is required
 * (PMP_REQUIRE=1) that is a failure.
 */
TAP_UNUSED static void skip(const char *reason)
{
	const char *require = getenv("PMP_REQUIRE");
	bool failed = require && strcmp(require, "1") == 0;

	tap.run++;
	tap.failed += failed;
	printf("%sok %u # SKIP %s\n", failed ? "not " : "", tap.run, reason);
	fflush(stdout);
}

/* Print the plan; returns the status for main(). */
TAP_UNUSED static int done_testing(void)
{
	printf("1..%u\n", tap.run);
	fflush(stdout);
	return tap.failed || !tap.run ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* main() of a test that cannot be built here. */
#define TAP_ONLY_SKIPS(reason) \
	int main(void) \
	{ \
		skip(reason); \
		return done_testing(); \
	}

#endif
