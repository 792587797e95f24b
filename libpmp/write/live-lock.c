/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a lock of a view is called: as formats call it, with the names that are there. */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/escape.h"
#include "base/sized.h"
#include "report/wait-kinds.h"
#include "tally/live.h"
#include "write/wait-names.h"

/* Append a text and its NUL if there is room; where it is, or "". */
static const char *put_text(struct pmp_buf *text, char *buffer, size_t size, size_t *used)
{
	char *at = buffer + *used;

	if (!text->length || *used >= size)
		return "";
	pmp_escape(text->data, at, size - *used);
	*used += strlen(at) + 1;
	return at;
}

void pmp_live_lock(const struct pmp_live *live, const struct pmp_symbolizer *symbolizer,
		   size_t i, struct pmp_live_lock *lock, char *buffer, size_t size)
{
	const struct pmp_lock *found = pmp_live_get_lock(live, i);
	const struct pmp_wait wait = { .kind = found->kind };
	struct pmp_live_lock all = {
		.kind = *found->text ? found->text : pmp_wait_kind_name(&wait),
		.is_lock = *found->text || pmp_wait_is_lock(&wait),
		.address = found->address,
		.name = "",
		.place = "",
		.wanted = PMP_LOCATION_NONE,
		.holder = found->holder_name,
	};
	struct pmp_buf name = { 0 }, place = { 0 };
	struct pmp_object object;
	size_t used = 0;

	if (!pmp_symbolizer_known_object(symbolizer, &found->object, &object)) {
		all.wanted = found->object.location;
	} else {
		pmp_object_name(&object, &name);
		pmp_object_place(&object, &place);
	}
	all.name = put_text(&name, buffer, size, &used);
	all.place = put_text(&place, buffer, size, &used);
	pmp_buf_free(&name);
	pmp_buf_free(&place);
	pmp_sized_give(lock, &all, sizeof(all));
}
