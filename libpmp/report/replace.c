/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/replace.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LENGTH_MAX 2048 /* of a replacement */

int pmp_expression_compile(struct pmp_expression *expression, const char *text,
			   size_t length, bool ignore_case, struct pmp_error *err)
{
	*expression = (struct pmp_expression){ 0 };
	return pmp_regex_new(&expression->regex, text, length, ignore_case, err);
}

/* ---- replacements ---------------------------------------------------------------- */

/*
 * Copy a part of a command up to its delimiter, and drop the backslash before an escaped
 * delimiter. Returns what follows the delimiter; NULL: there is none.
 */
static const char *take_part(const char *at, char delimiter, char *part)
{
	while (*at && *at != delimiter) {
		if (at[0] == '\\' && at[1] == delimiter)
			at++;
		else if (at[0] == '\\' && at[1])
			*part++ = *at++;
		*part++ = *at++;
	}
	*part = '\0';
	return *at ? at + 1 : NULL;
}

/* The number of the group that the text at *at refers to, 0 for the whole match; -1: it
 * is no reference. */
static int reference(const char *at)
{
	if (*at == '&')
		return 0;
	return at[0] == '\\' && at[1] >= '0' && at[1] <= '9' ? at[1] - '0' : -1;
}

static bool has_groups(const struct pmp_expression *expression)
{
	for (const char *at = expression->text; *at; at++) {
		if (reference(at) > (int)pmp_regex_groups(expression->regex))
			return false;
		if (*at == '\\' && at[1])
			at++;
	}
	return true;
}

static int take_flags(struct pmp_expression *expression, const char *flags,
		      struct pmp_error *err)
{
	expression->global = strcmp(flags, "g") == 0;
	if (!*flags || expression->global)
		return 0;
	return pmp_error_set(err, PMP_EINVAL, "its only flag is g");
}

int pmp_expression_parse(struct pmp_expression *expression, const char *text,
			 bool ignore_case, struct pmp_error *err)
{
	size_t size = strlen(text) + 1;
	char *parts = NULL, *replacement = NULL;
	const char *at = NULL;
	int code;

	*expression = (struct pmp_expression){ 0 };
	if (size > LENGTH_MAX)
		return pmp_error_set(err, PMP_EINVAL, "it is too long");
	if (text[0] != 's' || !text[1] || text[1] == '\\' || text[1] == '\n')
		return pmp_error_set(err, PMP_EINVAL, "it does not begin with s/");
	parts = malloc(size);
	replacement = malloc(size);
	if (!parts || !replacement) {
		code = pmp_error_nomem(err, "reading an expression");
		goto out;
	}
	at = take_part(text + 2, text[1], parts);
	if (at)
		at = take_part(at, text[1], replacement);
	if (!at) {
		code = pmp_error_set(err, PMP_EINVAL, "a delimiter is missing");
		goto out;
	}
	code = pmp_expression_compile(expression, parts, strlen(parts), ignore_case, err);
	if (code)
		goto out;
	expression->text = replacement;
	replacement = NULL;
	code = take_flags(expression, at, err);
	if (!code && !has_groups(expression))
		code = pmp_error_set(err, PMP_EINVAL, "it has no group of that number");
out:
	free(parts);
	free(replacement);
	return code;
}

void pmp_expression_free(struct pmp_expression *expression)
{
	pmp_regex_free(expression->regex);
	free(expression->text);
	free(expression->source);
	*expression = (struct pmp_expression){ 0 };
}

/* ---- replacing -------------------------------------------------------------------- */

struct text {
	char *data;
	size_t size, length;
};

static void add(struct text *text, const char *from, size_t length)
{
	size_t room = text->size - 1 - text->length;

	if (length > room)
		length = room;
	memcpy(text->data + text->length, from, length);
	text->length += length;
	text->data[text->length] = '\0';
}

static void add_replacement(struct text *text, const char *replacement, const char *name,
			    const struct pmp_regex_group *groups)
{
	for (const char *at = replacement; *at; at++) {
		int number = reference(at);

		if (number < 0) {
			if (*at == '\\' && at[1])
				at++;
			add(text, at, 1);
			continue;
		}
		if (*at == '\\')
			at++;
		add(text, name + groups[number].begin,
		    groups[number].end - groups[number].begin);
	}
}

/* Length of the first character; stray continuation bytes belong to it. */
static size_t character(const char *at, size_t length)
{
	size_t bytes = 1;

	while (bytes < length && ((unsigned char)at[bytes] & 0xc0) == 0x80)
		bytes++;
	return bytes;
}

/*
 * As in sed, the empty string may match too: "x*" to "-" turns ab into -a-b-, but an
 * empty match directly after another match is not replaced.
 */
int pmp_expression_replace(const struct pmp_expression *expression, const char *name,
			   char *buffer, size_t size)
{
	const size_t length = strnlen(name, PMP_EXPRESSION_NAME - 1);
	struct text text = { buffer, size, 0 };
	struct pmp_regex_group groups[PMP_EXPRESSION_GROUPS];
	bool replaced = false, behind = false, again = true;
	size_t at = 0;
	int code = 0;

	buffer[0] = '\0';
	while (again) {
		size_t begin, end, one;

		code = pmp_regex_find(expression->regex, name, length, at, groups);
		if (code <= 0)
			break;
		begin = groups[0].begin;
		end = groups[0].end;
		add(&text, name + at, begin - at);
		if (begin < end || begin > at || !behind)
			add_replacement(&text, expression->text, name, groups);
		behind = begin < end;
		at = end;
		replaced = true;
		again = expression->global && at < length;
		one = again && !behind ? character(name + at, length - at) : 0;
		add(&text, name + at, one);
		at += one;
	}
	add(&text, name + at, length - at);
	return code < 0 ? code : replaced;
}

int pmp_expression_take(const struct pmp_expression *expression, const char *name,
			char *buffer, size_t size)
{
	struct text text = { buffer, size, 0 };
	struct pmp_regex_group groups[PMP_EXPRESSION_GROUPS];
	int code = pmp_regex_find(expression->regex, name,
				  strnlen(name, PMP_EXPRESSION_NAME - 1), 0, groups);

	buffer[0] = '\0';
	if (code > 0)
		add_replacement(&text, expression->text, name, groups);
	return code;
}
