/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names abbreviated to what people call a function: a row has little room for more. */
#include "rows/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "\u2026"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Length of "operator" with its symbol at name: <<, (), ->, new[], ...; 0: none. */
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

/* Returns the end of the bracket that opens at *at, or of the text if it is not closed. */
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

struct short_text {
	char *data;
	size_t size, length;
};

static void add(struct short_text *text, const char *from, size_t length)
{
	if (length >= text->size - text->length)
		length = text->size - text->length - 1;
	memcpy(text->data + text->length, from, length);
	text->length += length;
	text->data[text->length] = '\0';
}

/* An (anonymous namespace) and a local class, f(int)::g, continue after the bracket. */
static bool goes_on(const char *at)
{
	at += strcspn(at, ":");
	return at[0] == ':' && at[1] == ':';
}

char *shorten_name(const char *name, char *buffer, size_t size)
{
	struct short_text text = { buffer, size, 0 };
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
			/* Skip the qualifiers of the function around a local class. */
			if (*at == ' ' && goes_on(at))
				at += strcspn(at, ":");
		} else if (*at == ' ') {
			/* What precedes the blank is a return type. */
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
