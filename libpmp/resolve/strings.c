/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings that are kept for as long as they may be shown. */
#include "resolve/strings.h"

#include <string.h>

static const char *keep(struct pmp_strings *strings, const char *text, size_t length)
{
	const size_t before = pmp_intern_count(strings->kept);
	uint32_t id = pmp_intern(strings->kept, text, length);

	if (pmp_intern_count(strings->kept) != before)
		strings->size += length;
	return id == PMP_INTERN_NONE ? PMP_STRINGS_UNKNOWN
				     : pmp_intern_data(strings->kept, id, NULL);
}

const char *pmp_strings_keep(struct pmp_strings *strings, const char *text)
{
	return keep(strings, text, strlen(text));
}

const char *pmp_strings_keep_scratch(struct pmp_strings *strings)
{
	struct pmp_buf *scratch = &strings->scratch;
	const char *kept = PMP_STRINGS_UNKNOWN;

	if (!pmp_buf_failed(scratch))
		kept = keep(strings, scratch->data, scratch->length);
	else
		pmp_buf_free(scratch);
	pmp_buf_clear(scratch);
	return kept;
}

/* The length to which a long name is cut, without splitting a UTF-8 character. */
static size_t name_length(const char *name)
{
	size_t length = PMP_NAME_MAX;

	while (length > PMP_NAME_MAX - 4 && ((unsigned char)name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

const char *pmp_strings_keep_name(struct pmp_strings *strings, const char *name)
{
	size_t length = strnlen(name, PMP_NAME_MAX + 1);

	if (length <= PMP_NAME_MAX)
		return keep(strings, name, length);
	pmp_buf_add(&strings->scratch, name, name_length(name));
	pmp_buf_puts(&strings->scratch, "...");
	return pmp_strings_keep_scratch(strings);
}

void pmp_strings_cut_name(struct pmp_buf *text)
{
	if (pmp_buf_failed(text) || text->length <= PMP_NAME_MAX)
		return;
	pmp_buf_cut(text, name_length(text->data));
	pmp_buf_puts(text, "...");
}

const char *pmp_strings_keep_scratch_name(struct pmp_strings *strings)
{
	struct pmp_buf *scratch = &strings->scratch;

	pmp_strings_cut_name(scratch);
	return pmp_strings_keep_scratch(strings);
}

void pmp_strings_free(struct pmp_strings *strings)
{
	pmp_intern_free(strings->kept);
	pmp_buf_free(&strings->scratch);
}
