/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings as text, one per line: saved by the key W for the next view. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

struct setting {
	const char *name;
	size_t offset;
	const char *words; /* NULL: yes or no */
};

#define IN(field) offsetof(struct settings, field)

static const struct setting table[] = {
	{ "window", IN(window), "start minute seconds" },
	{ "idle", IN(idle), "shown hidden only" },
	{ "ungrouped", IN(ungrouped), NULL },
	{ "split", IN(split), NULL },
	{ "inverted", IN(inverted), NULL },
	{ "no-lines", IN(no_lines), NULL },
	{ "full-names", IN(full), NULL },
	{ "waits", IN(wait), NULL },
	{ "average", IN(average), NULL },
	{ "no-mouse", IN(no_mouse), NULL },
	{ "heap-functions", IN(functions), NULL },
};

#define TABLE_SIZE (sizeof(table) / sizeof(*table))

/* Word i of a list, with its length in *length; NULL: there is none. */
static const char *word(const char *words, unsigned i, size_t *length)
{
	while (*words) {
		*length = strcspn(words, " ");
		if (i-- == 0)
			return words;
		words += *length + strspn(words + *length, " ");
	}
	return NULL;
}

static bool take(const struct setting *setting, struct settings *settings,
		 const char *value)
{
	void *field = (char *)settings + setting->offset;
	const char *words = setting->words ? setting->words : "no yes", *at;
	size_t length;

	for (unsigned i = 0; (at = word(words, i, &length)) != NULL; i++) {
		if (strlen(value) != length || strncmp(at, value, length) != 0)
			continue;
		if (setting->words)
			*(unsigned *)field = i;
		else
			*(bool *)field = i;
		return true;
	}
	return false;
}

/* 1 + the column of a view that a word or --sort means; 0: none. */
static unsigned column_of(const struct view_type *type, const char *name,
			  enum pmp_sort sort)
{
	for (size_t i = 0; i < type->column_count; i++) {
		const struct column *column = &type->columns[i];

		if (column->word &&
		    (name ? strcmp(column->word, name) == 0 : column->sort == sort))
			return (unsigned)i + 1;
	}
	return 0;
}

/* "sort-threads cpu", "reverse-threads cpu": a view and a column. */
static bool take_sort(struct settings *settings, const char *name, const char *value,
		      const char **problem)
{
	const char *dash = strchr(name, '-');
	size_t number = dash ? view_type_find(dash + 1) : view_type_count();
	unsigned column;

	if (number == view_type_count())
		return false;
	column = column_of(view_type_at(number), value, 0);
	/* Old files have numbers instead of names. */
	if (!column && value[strspn(value, "0123456789")] == '\0')
		*problem = "columns have names now";
	if (!column)
		return false;
	settings->sort[number] = column;
	settings->reverse[number] = strncmp(name, "reverse", 7) == 0;
	return true;
}

static bool take_view(struct settings *settings, const char *value)
{
	size_t number = view_type_find(value);

	if (number == view_type_count())
		return false;
	settings->view = (unsigned)number;
	return true;
}

bool settings_take(struct settings *settings, const char *line, const char **problem)
{
	char text[128], *value;

	*problem = "";
	if (snprintf(text, sizeof(text), "%s", line) >= (int)sizeof(text))
		return false;
	text[strcspn(text, "#\r\n")] = '\0';
	value = text + strcspn(text, " \t");
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t");
	value[strcspn(value, " \t")] = '\0';
	if (!*text)
		return true;
	for (size_t i = 0; i < TABLE_SIZE; i++) {
		if (strcmp(table[i].name, text) == 0)
			return take(&table[i], settings, value);
	}
	return strcmp(text, "view") == 0 ? take_view(settings, value)
					 : take_sort(settings, text, value, problem);
}

struct settings_text {
	char *buffer;
	size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void add(struct settings_text *text,
						      const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->buffer + text->length, text->size - text->length, format,
		      args);
	va_end(args);
	if (n > 0)
		text->length += (size_t)n;
	if (text->length >= text->size)
		text->length = text->size - 1;
}

static void add_sort(struct settings_text *text, const struct settings *settings,
		     size_t number)
{
	const struct view_type *type = view_type_at(number);
	unsigned sort = settings->sort[number];
	const char *name;

	if (!type->columns || !(sort || settings->reverse[number]))
		return;
	name = type->columns[sort ? sort - 1 : type->sort].word;
	if (name)
		add(text, "%s-%s %s\n", settings->reverse[number] ? "reverse" : "sort",
		    type->word, name);
}

size_t settings_print(const struct settings *settings, char *buffer, size_t size)
{
	struct settings_text text = { buffer, size, 0 };
	const char *at;
	size_t n = 0;

	add(&text, "view %s\n", view_type_at(settings->view)->word);
	for (size_t i = 0; i < TABLE_SIZE; i++) {
		const void *field = (const char *)settings + table[i].offset;
		unsigned value =
			table[i].words ? *(const unsigned *)field : *(const bool *)field;

		at = word(table[i].words ? table[i].words : "no yes", value, &n);
		add(&text, "%s %.*s\n", table[i].name, at ? (int)n : 0, at ? at : "");
	}
	for (size_t i = 0; i < view_type_count(); i++)
		add_sort(&text, settings, i);
	return text.length;
}

void settings_sort(struct settings *settings, enum pmp_sort sort)
{
	for (size_t i = 0; i < view_type_count() && sort; i++) {
		unsigned column = column_of(view_type_at(i), NULL, sort);

		if (!column)
			continue;
		settings->sort[i] = column;
		settings->reverse[i] = false;
	}
}
