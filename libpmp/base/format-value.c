/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats values with a unit for people: 2097152 bytes are "2MB", 1500000 nanoseconds
 * "1.50ms". Units are those in pprof's files, written as by its tools; an unknown one
 * follows the number as it is, and a count has none.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "libpmp-program.h"

#define WORD_SIZE 32 /* of a unit */

struct value_unit {
	const char *shown;
	const char *names; /* singular forms, separated by blanks */
	double size;	   /* in the first unit of its kind */
};

static const struct value_unit memory[] = {
	{ "B", "b byte", 1 },
	{ "kB", "kb kbyte kilobyte", 1024.0 },
	{ "MB", "mb mbyte megabyte", 1024.0 * 1024 },
	{ "GB", "gb gbyte gigabyte", 1024.0 * 1024 * 1024 },
	{ "TB", "tb tbyte terabyte", 1024.0 * 1024 * 1024 * 1024 },
	{ "PB", "pb pbyte petabyte", 1024.0 * 1024 * 1024 * 1024 * 1024 },
	{ NULL, NULL, 0 },
};

static const struct value_unit times[] = {
	{ "ns", "ns nanosecond", 1 },	  { "us", "us microsecond", 1e3 },
	{ "ms", "ms millisecond", 1e6 },  { "s", "s sec second", 1e9 },
	{ "hrs", "hr hrs hour", 3600e9 }, { NULL, NULL, 0 },
};

static bool is_listed(const char *list, const char *word, size_t length)
{
	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == length && strncasecmp(list, word, n) == 0)
			return true;
		list += n + strspn(list + n, " ");
	}
	return false;
}

/* The unit with this name, in the singular or plural; NULL: none. */
static const struct value_unit *find(const struct value_unit *units, const char *name)
{
	size_t length = strlen(name);

	if (length > 3 && tolower((unsigned char)name[length - 1]) == 's')
		length--;
	for (; units->shown; units++)
		if (is_listed(units->names, name, length))
			return units;
	return NULL;
}

/* Two decimals, omitted if zero. Not with %.2f, whose decimal point depends on the
 * locale. */
static void print(double value, const char *unit, char *buffer, size_t size)
{
	char digits[40];
	int length = snprintf(digits, sizeof(digits), "%03.0f", value * 100);
	const char *decimals = digits + length - 2;

	if (strcmp(decimals, "00") == 0)
		snprintf(buffer, size, "%.*s%s", length - 2, digits, unit);
	else
		snprintf(buffer, size, "%.*s.%s%s", length - 2, digits, decimals, unit);
}

/* Uses the largest unit of which there is at least one. */
static void scale(double value, const struct value_unit *units, char *buffer, size_t size)
{
	const struct value_unit *best = units;

	for (; units->shown; units++)
		if (value >= units->size)
			best = units;
	print(value / best->size, value > 0 ? best->shown : "", buffer, size);
}

char *pmp_format_value(uint64_t value, const char *unit, char *buffer, size_t size)
{
	static const struct value_unit *const kinds[] = { memory, times };
	char word[WORD_SIZE];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct value_unit *found = find(kinds[i], unit);

		if (!found)
			continue;
		scale((double)value * found->size, kinds[i], buffer, size);
		return buffer;
	}
	if (is_listed("count sample samples unit", unit, strlen(unit)))
		unit = "";
	snprintf(buffer, size, "%" PRIu64 "%s", value,
		 pmp_escape(unit, word, sizeof(word)));
	return buffer;
}
