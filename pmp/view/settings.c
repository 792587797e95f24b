/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings as text, one a line: what W saves and the next view begins with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../value.h"
#include "view.h"

struct setting {
	const char *name;
	size_t offset;
	const char *words; /* NULL: yes or no */
};

#define IN(field) offsetof(struct pmp_settings, field)

static const struct setting table[] = {
	{ "view", IN(view), "stacks functions tree threads" },
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
};

#define TABLE_SIZE (sizeof(table) / sizeof(*table))

/* Word number i of a list, its length in *length; NULL after the last. */
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

static bool take(const struct setting *setting, struct pmp_settings *settings,
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

/* "sort-threads 3", "reverse-threads 3": a column of a view by its number, from 1. */
static bool take_sort(struct pmp_settings *settings, const char *name, const char *value)
{
	const char *views = table[0].words, *dash = strchr(name, '-'), *at;
	uint64_t number;
	size_t length;

	if (!dash || !pmp_value_number(value, &number) || number > 64)
		return false;
	for (unsigned i = 0; (at = word(views, i, &length)) != NULL; i++) {
		if (strlen(dash + 1) != length || strncmp(at, dash + 1, length) != 0)
			continue;
		settings->sort[i] = (unsigned)number;
		settings->reverse[i] = strncmp(name, "reverse", 7) == 0;
		return true;
	}
	return false;
}

bool pmp_settings_take(struct pmp_settings *settings, const char *line)
{
	char text[128], *value;

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
	return take_sort(settings, text, value);
}

size_t pmp_settings_print(const struct pmp_settings *settings, char *buffer, size_t size)
{
	size_t length = 0, n = 0;
	const char *at;

	for (size_t i = 0; i < TABLE_SIZE && length < size; i++) {
		const void *field = (const char *)settings + table[i].offset;
		unsigned value = table[i].words ? *(const unsigned *)field
						: *(const bool *)field;

		at = word(table[i].words ? table[i].words : "no yes", value, &n);
		length += (size_t)snprintf(buffer + length, size - length, "%s %.*s\n",
					   table[i].name, at ? (int)n : 0, at ? at : "");
	}
	for (unsigned i = 0; i < PMP_VIEW_COUNT && length < size; i++) {
		at = word(table[0].words, i, &n);
		if (settings->sort[i] || settings->reverse[i])
			length += (size_t)snprintf(buffer + length, size - length,
						   "%s-%.*s %u\n",
						   settings->reverse[i] ? "reverse" : "sort",
						   (int)n, at, settings->sort[i]);
	}
	return length < size ? length : size - 1;
}
