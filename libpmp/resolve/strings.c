/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings that are kept for as long as anybody may show them. */
#include "resolve/strings.h"

#include <string.h>

static const char *keep(struct pmp_strings *strings, const char *text, size_t length)
{
	uint32_t id = pmp_intern(strings->kept, text, length);

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

void pmp_strings_free(struct pmp_strings *strings)
{
	pmp_intern_free(strings->kept);
	pmp_buf_free(&strings->scratch);
}
