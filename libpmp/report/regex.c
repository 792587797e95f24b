/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See regex.h. The C library says whether an expression is right, and what of a name is
 * replaced; whether a name matches is found without it, in bounded time.
 */
#include "report/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "report/regex-cost.h"
#include "report/regex-program.h"

#define LENGTH_MAX 2048 /* of a replacement */
#define GROUPS 10	/* \0 ... \9 */

static bool is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

int pmp_expression_compile(struct pmp_expression *expression, const char *text,
			   size_t length, bool ignore_case, struct pmp_error *err)
{
	const char *fault = pmp_expression_fault(text, length);
	char problem[128], *copy;
	int code;

	*expression = (struct pmp_expression){ .compiled = false };
	if (fault)
		return pmp_error_set(err, PMP_EINVAL, "%s", fault);
	copy = pmp_copy(text, length);
	if (!copy)
		return pmp_error_nomem(err, "reading an expression");
	code = regcomp(&expression->regex, copy,
		       REG_EXTENDED | (ignore_case ? REG_ICASE : 0));
	free(copy);
	if (code == REG_ESPACE)
		return pmp_error_nomem(err, "reading an expression");
	if (code) {
		regerror(code, &expression->regex, problem, sizeof(problem));
		return pmp_error_set(err, PMP_EINVAL, "%s", problem);
	}
	expression->compiled = true;
	/* In a locale like UTF-8 a character is several bytes. */
	if (MB_CUR_MAX > 1 && !is_ascii(text, length))
		return 0;
	code = pmp_program_new(&expression->program, text, length, ignore_case);
	if (code == PMP_EINVAL)
		return pmp_error_set(err, code, "it repeats too much");
	return code ? pmp_error_nomem(err, "reading an expression") : 0;
}

/* ---- replacements ---------------------------------------------------------------- */

/*
 * Copy a part of a command up to its delimiter, before which a backslash is taken off.
 * Returns what follows the delimiter, or NULL: there is none.
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

/* The number of a group that a text refers to at *at, 0 for all; -1: to none. */
static int reference(const char *at)
{
	if (*at == '&')
		return 0;
	return at[0] == '\\' && at[1] >= '0' && at[1] <= '9' ? at[1] - '0' : -1;
}

static bool has_groups(const struct pmp_expression *expression)
{
	for (const char *at = expression->text; *at; at++) {
		if (reference(at) > (int)expression->regex.re_nsub)
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

	*expression = (struct pmp_expression){ .compiled = false };
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
	if (expression->compiled)
		regfree(&expression->regex);
	pmp_program_free(expression->program);
	free(expression->text);
	free(expression->source);
	*expression = (struct pmp_expression){ .compiled = false };
}

/* ---- matching -------------------------------------------------------------------- */

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

static int result(int code)
{
	return code == 0 ? 1 : code == REG_NOMATCH ? 0 : PMP_ENOMEM;
}

int pmp_expression_matches(const struct pmp_expression *expression, const char *name)
{
	size_t length = strnlen(name, PMP_EXPRESSION_NAME - 1);
	char part[PMP_EXPRESSION_NAME];

	if (expression->program)
		return pmp_program_matches(expression->program, name, length);
	memcpy(part, name, length);
	part[length] = '\0';
	return result(regexec(&expression->regex, part, 0, NULL, 0));
}

static void add_replacement(struct text *text, const char *replacement, const char *name,
			    const regmatch_t *groups)
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
		if (groups[number].rm_so >= 0)
			add(text, name + groups[number].rm_so,
			    (size_t)(groups[number].rm_eo - groups[number].rm_so));
	}
}

/*
 * As in sed nothing may match as well: "x*" to "-" makes -a-b- of ab, but not right behind
 * what has matched.
 */
int pmp_expression_replace(const struct pmp_expression *expression, const char *name,
			   char *buffer, size_t size)
{
	char part[PMP_EXPRESSION_NAME];
	struct text cut = { part, sizeof(part), 0 }, text = { buffer, size, 0 };
	bool replaced = false, behind = false, again;
	regmatch_t groups[GROUPS];
	const char *at = part;
	int code;

	buffer[0] = part[0] = '\0';
	add(&cut, name, strnlen(name, sizeof(part)));
	again = !expression->program ||
		pmp_program_matches(expression->program, part, cut.length);
	code = again;
	while (again) {
		size_t begin, end;

		code = result(regexec(&expression->regex, at, GROUPS, groups,
				      at == part ? 0 : REG_NOTBOL));
		if (code <= 0)
			break;
		begin = (size_t)groups[0].rm_so;
		end = (size_t)groups[0].rm_eo;
		add(&text, at, begin);
		if (begin < end || begin || !behind)
			add_replacement(&text, expression->text, at, groups);
		at += end;
		again = expression->global && *at;
		if (again && begin == end)
			add(&text, at++, 1);
		behind = begin < end;
		replaced = true;
	}
	add(&text, at, strlen(at));
	return code < 0 ? code : replaced;
}

int pmp_expression_take(const struct pmp_expression *expression, const char *name,
			char *buffer, size_t size)
{
	char part[PMP_EXPRESSION_NAME];
	struct text cut = { part, sizeof(part), 0 }, text = { buffer, size, 0 };
	regmatch_t groups[GROUPS];
	int code;

	buffer[0] = part[0] = '\0';
	add(&cut, name, strnlen(name, sizeof(part)));
	if (expression->program &&
	    !pmp_program_matches(expression->program, part, cut.length))
		return 0;
	code = result(regexec(&expression->regex, part, GROUPS, groups, 0));
	if (code > 0)
		add_replacement(&text, expression->text, part, groups);
	return code;
}
