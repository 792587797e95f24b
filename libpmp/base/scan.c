/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads numbers and words from untrusted text. */
#include "base/scan.h"

#include <string.h>

struct pmp_scan pmp_scan_text(const char *text, size_t length)
{
	/* NULL + 0 is undefined behaviour. */
	return (struct pmp_scan){ .at = text, .end = length ? text + length : text };
}

#define DIGITS_SAFE 15 /* any number of this many digits fits into 64 bits */

/* The value of a digit plus one; 0: not a digit. The parsers of /proc spend most of their
 * time here. */
static const uint8_t digit_values[UINT8_MAX + 1] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Not below any base: not a digit. */
static unsigned digit_value(char c)
{
	return digit_values[(uint8_t)c] - 1u;
}

/* Parses digits of this base from at on; NULL: none, or overflow. */
static inline const char *number(const char *at, const char *end, unsigned base,
				 uint64_t *value)
{
	const char *begin = at, *safe = end - at > DIGITS_SAFE ? at + DIGITS_SAFE : end;
	uint64_t n = 0;
	unsigned digit;

	for (; at < safe && (digit = digit_value(*at)) < base; at++)
		n = n * base + digit;
	if (at == safe)
		for (; at < end && (digit = digit_value(*at)) < base; at++)
			if (__builtin_mul_overflow(n, base, &n) ||
			    __builtin_add_overflow(n, digit, &n))
				return NULL;
	if (at == begin)
		return NULL;
	*value = n;
	return at;
}

bool pmp_scan_u64(struct pmp_scan *scan, uint64_t *value)
{
	const char *at = number(scan->at, scan->end, 10, value);

	if (!at)
		return false;
	scan->at = at;
	return true;
}

bool pmp_scan_i64(struct pmp_scan *scan, int64_t *value)
{
	const char *at = scan->at;
	bool negative = at < scan->end && *at == '-';
	uint64_t n;

	at = number(at + negative, scan->end, 10, &n);
	if (!at || n > (uint64_t)INT64_MAX + negative)
		return false;
	/* 0 - n is well-defined for unsigned numbers, even for INT64_MIN. */
	*value = (int64_t)(negative ? 0 - n : n);
	scan->at = at;
	return true;
}

bool pmp_scan_hex(struct pmp_scan *scan, uint64_t *value)
{
	const char *at = scan->at;

	/* "0x" counts only if a digit follows; else it is the number 0. */
	if (scan->end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') &&
	    digit_value(at[2]) < 16)
		at += 2;
	at = number(at, scan->end, 16, value);
	if (!at)
		return false;
	scan->at = at;
	return true;
}

bool pmp_scan_char(struct pmp_scan *scan, char c)
{
	if (scan->at >= scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

void pmp_scan_blanks(struct pmp_scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

bool pmp_scan_word(struct pmp_scan *scan, const char **word, size_t *length)
{
	const char *at = scan->at;

	while (at < scan->end && *at != ' ' && *at != '\t' && *at != '\n')
		at++;
	if (at == scan->at)
		return false;
	*word = scan->at;
	*length = (size_t)(at - scan->at);
	scan->at = at;
	return true;
}

bool pmp_scan_line(struct pmp_scan *scan, const char **line, size_t *length)
{
	const char *newline;

	if (scan->at >= scan->end)
		return false;
	newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
	*line = scan->at;
	*length = (size_t)((newline ? newline : scan->end) - scan->at);
	scan->at = newline ? newline + 1 : scan->end;
	return true;
}

bool pmp_scan_done(const struct pmp_scan *scan)
{
	return scan->at >= scan->end;
}

bool pmp_scan_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	struct pmp_scan scan = pmp_scan_text(text, strlen(text));
	uint64_t n;

	if (!pmp_scan_u64(&scan, &n) || !pmp_scan_done(&scan) || n < low || n > high)
		return false;
	*value = n;
	return true;
}
