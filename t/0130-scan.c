/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/scan: what is taken, and that a refusal leaves the scanner where it was. */
#include <inttypes.h>
#include <stdint.h>

#include "base/scan.h"
#include "lib/tap.h"

enum kind { U64, I64, HEX };

static const struct {
	enum kind kind;
	const char *text;
	bool taken;
	uint64_t value;
	const char *rest;
} numbers[] = {
	{ U64, "0", true, 0, "" },
	{ U64, "42 x", true, 42, " x" },
	{ U64, "007", true, 7, "" },
	{ U64, "18446744073709551615", true, UINT64_MAX, "" },
	{ U64, "18446744073709551616", false, 0, "18446744073709551616" },
	{ U64, "99999999999999999999999", false, 0, "99999999999999999999999" },
	{ U64, "", false, 0, "" },
	{ U64, " 1", false, 0, " 1" },
	{ U64, "-1", false, 0, "-1" },
	{ U64, "+1", false, 0, "+1" },
	{ U64, "a", false, 0, "a" },
	{ I64, "-1", true, (uint64_t)-1, "" },
	{ I64, "5-", true, 5, "-" },
	{ I64, "-0", true, 0, "" },
	{ I64, "9223372036854775807", true, INT64_MAX, "" },
	{ I64, "9223372036854775808", false, 0, "9223372036854775808" },
	{ I64, "-9223372036854775808", true, (uint64_t)INT64_MIN, "" },
	{ I64, "-9223372036854775809", false, 0, "-9223372036854775809" },
	{ I64, "-", false, 0, "-" },
	{ I64, "--1", false, 0, "--1" },
	{ I64, "", false, 0, "" },
	{ HEX, "7fffA0b1-", true, 0x7fffa0b1, "-" },
	{ HEX, "0x10", true, 16, "" },
	{ HEX, "0X1g", true, 1, "g" },
	{ HEX, "0x", true, 0, "x" },
	{ HEX, "0xg", true, 0, "xg" },
	{ HEX, "0x0x1", true, 0, "x1" },
	{ HEX, "ffffffffffffffff", true, UINT64_MAX, "" },
	{ HEX, "10000000000000000", false, 0, "10000000000000000" },
	{ HEX, "0x10000000000000000", false, 0, "0x10000000000000000" },
	{ HEX, "x1", false, 0, "x1" },
	{ HEX, "", false, 0, "" },
};

static bool scan_number(enum kind kind, struct pmp_scan *scan, uint64_t *value)
{
	int64_t number = 0;
	bool taken;

	if (kind == U64)
		return pmp_scan_u64(scan, value);
	if (kind == HEX)
		return pmp_scan_hex(scan, value);
	taken = pmp_scan_i64(scan, &number);
	*value = (uint64_t)number;
	return taken;
}

static void test_numbers(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const char *text = numbers[i].text;
		/* A copy without a NUL, so that a sanitizer sees its end. */
		size_t length = strlen(text);
		char *copy = memcpy(malloc(length + 1), text, length);
		struct pmp_scan scan;
		uint64_t value = 0;
		bool taken;

		copy = realloc(copy, length ? length : 1);
		scan = pmp_scan_text(copy, length);
		taken = scan_number(numbers[i].kind, &scan, &value);
		ok(taken == numbers[i].taken && (!taken || value == numbers[i].value) &&
			   scan.end - scan.at == (ptrdiff_t)strlen(numbers[i].rest),
		   "number of kind %d in '%s': %d %" PRIu64, numbers[i].kind, text, taken,
		   value);
		free(copy);
	}
}

static void test_words(void)
{
	const char text[] = "one\ttwo  3\n\nlast";
	struct pmp_scan scan = pmp_scan_text(text, strlen(text));
	const char *word;
	uint64_t value;
	size_t length;

	ok(pmp_scan_word(&scan, &word, &length) && length == 3 && word == text, "a word");
	ok(!pmp_scan_word(&scan, &word, &length), "no word at a tab");
	pmp_scan_blanks(&scan);
	ok(!pmp_scan_char(&scan, 'x') && pmp_scan_char(&scan, 't'), "a character");
	ok(pmp_scan_line(&scan, &word, &length) && length == 5 &&
		   memcmp(word, "wo  3", 5) == 0,
	   "the rest of a line");
	ok(pmp_scan_line(&scan, &word, &length) && length == 0, "an empty line");
	ok(!pmp_scan_u64(&scan, &value) && !pmp_scan_done(&scan), "no number");
	ok(pmp_scan_line(&scan, &word, &length) && length == 4, "a line without newline");
	ok(pmp_scan_done(&scan) && !pmp_scan_line(&scan, &word, &length),
	   "no more lines");
	ok(!pmp_scan_word(&scan, &word, &length) && !pmp_scan_char(&scan, '\0'),
	   "nothing is taken at the end");
	pmp_scan_blanks(&scan);
	scan = pmp_scan_text("a\0b c", 5);
	ok(pmp_scan_word(&scan, &word, &length) && length == 3,
	   "a NUL does not end a word");
}

static void test_whole(void)
{
	uint64_t value = 7;

	ok(pmp_scan_whole("10", 1, 10, &value) && value == 10, "at the upper end");
	ok(pmp_scan_whole("1", 1, 10, &value) && value == 1, "at the lower end");
	ok(!pmp_scan_whole("0", 1, 10, &value), "too small");
	ok(!pmp_scan_whole("11", 1, 10, &value), "too large");
	ok(!pmp_scan_whole("", 0, 10, &value), "empty");
	ok(!pmp_scan_whole("5x", 0, 10, &value), "something behind");
	ok(!pmp_scan_whole(" 5", 0, 10, &value), "something before");
	is_int(value, 1, "a refusal does not touch the value");
}

int main(void)
{
	test_numbers();
	test_words();
	test_whole();
	return done_testing();
}
