/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values on the command line. Times are parsed as integers, which avoids the locale
 * and rounding.
 */
#include "options/value.h"

#include <stdlib.h>
#include <string.h>

#include "run/clock.h"

#define NANO_DIGITS 9

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Parse at least one digit at *text, and move *text past the digits. */
static bool take_digits(const char **text, uint64_t *number)
{
	const char *at = *text;

	if (!is_digit(*at))
		return false;
	for (*number = 0; is_digit(*at); at++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
			return false;
	}
	*text = at;
	return true;
}

/* Parse "1.5" or ".5" in billionths, and move *text past it. More digits are ignored. */
static bool take_nano(const char **text, uint64_t *nano)
{
	uint64_t whole = 0, fraction = 0;
	int digits = 0;

	if (**text != '.' && !take_digits(text, &whole))
		return false;
	if (**text == '.') {
		++*text;
		if (!is_digit(**text))
			return false;
		for (; is_digit(**text); ++*text) {
			if (digits < NANO_DIGITS) {
				fraction = fraction * 10 + (uint64_t)(**text - '0');
				digits++;
			}
		}
	}
	for (; digits < NANO_DIGITS; digits++)
		fraction *= 10;
	return !__builtin_mul_overflow(whole, NS_PER_S, nano) &&
	       !__builtin_add_overflow(*nano, fraction, nano);
}

bool value_number(const char *text, uint64_t *number)
{
	return take_digits(&text, number) && !*text;
}

bool value_time(const char *text, uint64_t *time)
{
	static const struct {
		const char *name;
		uint64_t multiply, divide;
	} units[] = {
		{ "", 1, 1 },	{ "s", 1, 1 },	  { "ms", 1, 1000 }, { "us", 1, 1000000 },
		{ "m", 60, 1 }, { "h", 3600, 1 }, { "d", 86400, 1 }, { "w", 604800, 1 },
	};
	uint64_t nano;

	if (!take_nano(&text, &nano))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(text, units[i].name) == 0) {
			nano /= units[i].divide;
			return !__builtin_mul_overflow(nano, units[i].multiply, time);
		}
	}
	return false;
}

bool value_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMG";
	const char *unit;

	if (!take_digits(&text, size))
		return false;
	if (!*text)
		return true;
	unit = strchr(units, *text);
	return unit && !text[1] &&
	       !__builtin_mul_overflow(*size, UINT64_C(1) << (10 * (unit - units + 1)),
				       size);
}

bool value_frequency(const char *text, uint64_t *interval)
{
	uint64_t nano;

	if (!take_nano(&text, &nano) || *text || nano == 0)
		return false;
	*interval = (uint64_t)((double)NS_PER_S * (double)NS_PER_S / (double)nano + 0.5);
	return true;
}

/* Copy one word from *line to *to, unquoted. Returns NULL, or what is wrong with it. */
static const char *take_word(const char **line, char **to)
{
	const char *at = *line;
	char quote = 0;

	for (; *at && (quote || !is_blank(*at)); at++) {
		if (quote ? *at == quote : *at == '\'' || *at == '"') {
			quote = (char)(quote ? '\0' : *at);
		} else if (*at == '\\' && quote != '\'') {
			if (!*++at)
				return "it ends with a backslash";
			*(*to)++ = *at;
		} else {
			*(*to)++ = *at;
		}
	}
	*(*to)++ = '\0';
	*line = at;
	return quote ? "a quotation mark is missing" : NULL;
}

char **value_split(const char *line, int *count, const char **problem)
{
	size_t length = strlen(line), slots = length / 2 + 2;
	char **words = malloc(slots * sizeof(*words) + length + 1);
	char *text;

	*problem = NULL;
	*count = 0;
	if (!words)
		return NULL;
	text = (char *)(words + slots);
	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line)
			break;
		words[(*count)++] = text;
		*problem = take_word(&line, &text);
		if (*problem) {
			free(words);
			return NULL;
		}
	}
	words[*count] = NULL;
	return words;
}
