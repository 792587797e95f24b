/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, each once. C++ names are cut down to what people call a function by: a row
 * has room for little more.
 */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp.h"

#define NAME_SIZE 8192 /* what is longer is cut off */
#define ELLIPSIS "\u2026"

/* ---- shortening -------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The length of "operator" with its symbol at name: <<, (), ->, new[], ... or 0. */
static size_t operator_length(const char *begin, const char *name)
{
	const char *at = name + strlen("operator");

	if (strncmp(name, "operator", strlen("operator")) != 0 || is_word(*at) ||
	    (name > begin && is_word(name[-1])))
		return 0;
	if (strncmp(at, "()", 2) == 0 || strncmp(at, "[]", 2) == 0)
		return (size_t)(at - name) + 2;
	if (*at == ' ') { /* a conversion, new, delete */
		at += strcspn(at, "(<");
		return (size_t)(at - name);
	}
	at += strspn(at, "<>=!+-*/%^&|~,");
	return (size_t)(at - name);
}

/* Past the bracket that closes the one at *at; the end if there is none. */
static const char *skip_brackets(const char *begin, const char *at)
{
	const char open = *at, close = open == '<' ? '>' : ')';
	int depth = 0;

	for (; *at; at++) {
		size_t n = operator_length(begin, at);

		if (n) {
			at += n - 1;
			continue;
		}
		if (at[0] == '-' && at[1] == '>') {
			at++;
			continue;
		}
		if (*at == open)
			depth++;
		else if (*at == close && --depth == 0)
			return at + 1;
	}
	return at;
}

struct text {
	char *data;
	size_t size, length;
};

static void add(struct text *text, const char *from, size_t length)
{
	if (length >= text->size - text->length)
		length = text->size - text->length - 1;
	memcpy(text->data + text->length, from, length);
	text->length += length;
	text->data[text->length] = '\0';
}

/* An (anonymous namespace) and a local class, f(int)::g, go on after their bracket. */
static bool goes_on(const char *at)
{
	at += strcspn(at, ":");
	return at[0] == ':' && at[1] == ':';
}

char *pmp_names_brief(const char *name, char *buffer, size_t size)
{
	struct text text = { buffer, size, 0 };
	const char *at = name;
	size_t n;

	buffer[0] = '\0';
	/* [libfoo.so+0x1234], <signal handler called> */
	if (*name == '[' || *name == '<' || !strpbrk(name, "(<")) {
		add(&text, name, strlen(name));
		return buffer;
	}
	while (*at) {
		const char *after;

		n = operator_length(name, at);
		if (n) {
			add(&text, at, n);
			at += n;
		} else if (*at == '<') {
			after = skip_brackets(name, at);
			add(&text, "<" ELLIPSIS ">", strlen("<" ELLIPSIS ">"));
			at = after;
		} else if (*at == '(') {
			after = skip_brackets(name, at);
			if (strncmp(at, "(anonymous", strlen("(anonymous")) == 0)
				add(&text, at, (size_t)(after - at));
			else if (!goes_on(after))
				break;
			at = after;
			/* The qualifiers of what a local class is local to. */
			if (*at == ' ' && goes_on(at))
				at += strcspn(at, ":");
		} else if (*at == ' ') {
			/* What was there is a return type. */
			text.length = 0;
			buffer[0] = '\0';
			at++;
		} else {
			add(&text, at++, 1);
		}
	}
	if (!text.length)
		add(&text, name, strlen(name));
	return buffer;
}

/* ---- the table of names ------------------------------------------------------ */

static bool make(struct pmp_name *new, const char *name, const char *module)
{
	char full[NAME_SIZE], brief[NAME_SIZE], base[256];
	const char *slash = strrchr(module, '/');

	pmp_escape(name, full, sizeof(full));
	pmp_names_brief(full, brief, sizeof(brief));
	pmp_escape(slash ? slash + 1 : module, base, sizeof(base));
	*new = (struct pmp_name){
		.full = strdup(full),
		.module = strdup(base),
	};
	new->brief = strcmp(full, brief) == 0 ? new->full : strdup(brief);
	return new->full && new->brief && new->module;
}

/* A name that was a place at first learns its module later. */
static void add_module(struct pmp_names *names, uint32_t number, const char *module)
{
	const char *slash = strrchr(module, '/');
	char base[256], *copy;

	if (number >= names->count || *names->names[number].module || !*module)
		return;
	copy = strdup(pmp_escape(slash ? slash + 1 : module, base, sizeof(base)));
	if (!copy)
		return;
	free((char *)names->names[number].module);
	names->names[number].module = copy;
}

static void drop(struct pmp_name *name)
{
	if (name->brief != name->full)
		free((char *)name->brief);
	free((char *)name->full);
	free((char *)name->module);
}

uint32_t pmp_names_add(struct pmp_names *names, const char *name, const char *module)
{
	bool added;
	uint32_t *number = pmp_table_get(&names->table, pmp_hash_text(name),
					 (uint32_t)names->count, &added);

	if (!number)
		return PMP_NAME_NONE;
	/* There may have been no memory for it. */
	if (!added && *number != PMP_NAME_NONE) {
		add_module(names, *number, module);
		return *number;
	}
	*number = PMP_NAME_NONE;
	if (names->count == names->capacity) {
		size_t capacity = names->capacity ? 2 * names->capacity : 256;
		struct pmp_name *all =
			reallocarray(names->names, capacity, sizeof(*all));

		if (!all)
			return PMP_NAME_NONE;
		names->names = all;
		names->capacity = capacity;
	}
	if (!make(&names->names[names->count], name, module)) {
		drop(&names->names[names->count]);
		return PMP_NAME_NONE;
	}
	*number = (uint32_t)names->count;
	return (uint32_t)names->count++;
}

static const char *text_of(const struct pmp_names *names, uint32_t number)
{
	return names->full_ranks ? names->names[number].full : names->names[number].brief;
}

static int by_text(const void *a, const void *b, void *arg)
{
	return strcmp(text_of(arg, *(const uint32_t *)a), text_of(arg, *(const uint32_t *)b));
}

bool pmp_names_sort(struct pmp_names *names, bool full)
{
	uint32_t *order, rank = 0;

	if (names->rank_count == names->count && names->full_ranks == full)
		return true;
	free(names->ranks);
	names->rank_count = 0;
	names->full_ranks = full;
	names->ranks = calloc(names->count + 1, sizeof(*names->ranks));
	order = calloc(names->count + 1, sizeof(*order));
	if (!names->ranks || !order) {
		free(order);
		return false;
	}
	for (size_t i = 0; i < names->count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, names->count, sizeof(*order), by_text, names);
	for (size_t i = 0; i < names->count; i++) {
		rank += i && by_text(&order[i - 1], &order[i], names) != 0;
		names->ranks[order[i]] = rank;
	}
	names->rank_count = names->count;
	free(order);
	return true;
}

void pmp_names_free(struct pmp_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		drop(&names->names[i]);
	free(names->names);
	free(names->ranks);
	pmp_table_free(&names->table);
	*names = (struct pmp_names){ 0 };
}
