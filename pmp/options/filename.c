/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * %p, %n, %t, %c and %% in file names. A name with a time or a counter is never reused:
 * the writer asks for the next name until one is free.
 */
#include "options/filename.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PART_SIZE 128
#define PID_DIGITS 7
#define COUNTER_DIGITS 9
#define DATE_DIGITS 8
#define TIME_DIGITS 6
#define MATCH_STEPS 4096 /* more: the pattern is nothing but digits; no match */

#define DIGITS "0123456789"

bool filename_check(const char *pattern)
{
	const char *base = filename_base(pattern);

	for (; *pattern; pattern++) {
		if (*pattern != '%')
			continue;
		if (!*++pattern || !strchr("pntc%", *pattern))
			return false;
		/* The search for a free name covers one directory. */
		if (*pattern == 'c' && pattern < base)
			return false;
	}
	return true;
}

bool filename_has(const char *pattern, char letter)
{
	for (; *pattern; pattern++) {
		if (*pattern == '%' && *++pattern == letter)
			return true;
		if (!*pattern)
			break;
	}
	return false;
}

bool filename_is_series(const char *pattern)
{
	const char *base = filename_base(pattern);

	return filename_has(base, 't') || filename_has(base, 'c');
}

const char *filename_base(const char *pattern)
{
	const char *slash = strrchr(pattern, '/');

	return slash ? slash + 1 : pattern;
}

void filename_process(const char *process, char *text, size_t size)
{
	size_t i;

	for (i = 0; process[i] && i + 1 < size; i++) {
		unsigned char c = (unsigned char)process[i];

		text[i] = process[i];
		if (c <= ' ' || c >= 0x7f || c == '/')
			text[i] = '_';
	}
	if (i == 0 && size > 1)
		text[i++] = '_';
	text[i] = '\0';
	if (text[0] == '.')
		text[0] = '_';
}

/* base: in the last component, the only one where a suffix can make the name unique. */
static void convert(const struct filename *filename, char letter, bool base,
		    char text[PART_SIZE])
{
	struct tm local = { 0 };
	size_t length;

	switch (letter) {
	case 'p': snprintf(text, PART_SIZE, "%d", (int)filename->pid); break;
	case 'n': filename_process(filename->process, text, PART_SIZE); break;
	case 't':
		localtime_r(&filename->time, &local);
		length = strftime(text, PART_SIZE, "%Y%m%d-%H%M%S", &local);
		if (base && filename->again > 1)
			snprintf(text + length, PART_SIZE - length, "_%u",
				 filename->again);
		break;
	case 'c':
		snprintf(text, PART_SIZE, "%llu", (unsigned long long)filename->counter);
		break;
	default: snprintf(text, PART_SIZE, "%%"); break;
	}
}

int filename_expand(const struct filename *filename, char *path, size_t size)
{
	const char *base = filename_base(filename->pattern);
	size_t length = 0;

	for (const char *at = filename->pattern; *at; at++) {
		char part[PART_SIZE] = { *at, '\0' };
		size_t n;

		if (*at == '%' && at[1]) {
			at++;
			convert(filename, *at, at > base, part);
		}
		n = strlen(part);
		if (length + n >= size)
			return ENAMETOOLONG;
		memcpy(path + length, part, n);
		length += n;
	}
	path[length] = '\0';
	return 0;
}

/* ---- matching --------------------------------------------------------------------- */

struct match {
	char process[PART_SIZE];
	struct filename_found found;
	unsigned steps;
};

static bool match(struct match *state, const char *pattern, const char *name);

static uint64_t read_number(const char *digits, size_t length)
{
	uint64_t number = 0;

	for (size_t i = 0; i < length; i++)
		number = number * 10 + (uint64_t)(digits[i] - '0');
	return number;
}

/* A number as we print it, of at most most digits; then the rest. */
static bool match_number(struct match *state, const char *pattern, const char *name,
			 size_t most)
{
	size_t length = strspn(name, DIGITS);

	if (length > most)
		length = most;
	for (; length > 0 && name[0] != '0'; length--) {
		if (!match(state, pattern + 1, name + length))
			continue;
		if (*pattern == 'c')
			state->found.counter = read_number(name, length);
		else
			state->found.pid = (pid_t)read_number(name, length);
		return true;
	}
	return false;
}

/* 20261121-104500, optionally with _2; then the rest. */
static bool match_time(struct match *state, const char *pattern, const char *name)
{
	const char *end = name + DATE_DIGITS + 1 + TIME_DIGITS;
	size_t length;

	if (strspn(name, DIGITS) != DATE_DIGITS || name[DATE_DIGITS] != '-' ||
	    strspn(name + DATE_DIGITS + 1, DIGITS) < TIME_DIGITS)
		return false;
	if (match(state, pattern + 1, end))
		return true;
	if (end[0] != '_' || end[1] == '0')
		return false;
	length = strspn(end + 1, DIGITS);
	return length > 0 && match(state, pattern + 1, end + 1 + length);
}

static bool match(struct match *state, const char *pattern, const char *name)
{
	for (; *pattern; pattern++) {
		size_t length = 1;

		if (state->steps == 0)
			return false;
		state->steps--;
		if (*pattern != '%' || *++pattern == '%') {
			if (*name != *pattern)
				return false;
		} else if (*pattern == 't') {
			return match_time(state, pattern, name);
		} else if (*pattern != 'n') {
			return match_number(state, pattern, name,
					    *pattern == 'p' ? PID_DIGITS
							    : COUNTER_DIGITS);
		} else {
			length = strlen(state->process);
			if (strncmp(name, state->process, length) != 0)
				return false;
		}
		name += length;
	}
	return !*name;
}

bool filename_match(const struct filename *filename, const char *name,
		    struct filename_found *found)
{
	struct match state = { .steps = MATCH_STEPS };

	filename_process(filename->process, state.process, sizeof(state.process));
	if (!match(&state, filename_base(filename->pattern), name))
		return false;
	*found = state.found;
	return true;
}
