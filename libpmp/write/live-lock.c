/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of locks in a live view: as in the formats, but only with names known already. */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/escape.h"
#include "base/sized.h"
#include "report/wait-functions.h"
#include "report/wait-kinds.h"
#include "tally/live.h"
#include "write/outside-names.h"
#include "write/wait-names.h"

/* Append a text and its NUL if there is room. Returns where it is, or "". */
static const char *put_text(struct pmp_buf *text, char *buffer, size_t size, size_t *used)
{
	char *at = buffer + *used;

	if (!text->length || *used >= size)
		return "";
	pmp_escape(text->data, at, size - *used);
	*used += strlen(at) + 1;
	return at;
}

/* Length of the kind that begins the text of a saved profile. */
static size_t kind_length(const char *text)
{
	size_t longest = strcspn(text, " ");

	for (size_t i = 0; i < PMP_NAMED_COUNT; i++) {
		const char *kind = pmp_named_kinds[i].text;
		size_t length = kind ? strlen(kind) : 0;

		if (length > longest && strncmp(text, kind, length) == 0 &&
		    (!text[length] || text[length] == ' '))
			longest = length;
	}
	return longest;
}

/* Like put_text(), for the first length bytes of a text. */
static const char *put_part(const char *text, size_t length, char *buffer, size_t size,
			    size_t *used)
{
	char *at = buffer + *used;

	if (*used + length >= size)
		return "";
	memcpy(at, text, length);
	at[length] = '\0';
	*used += length + 1;
	return at;
}

/* "condition (metadata lock)", "mutex LOCK_log" */
static void take_text(struct pmp_live_lock *lock, const char *text, char *buffer,
		      size_t size)
{
	size_t length = kind_length(text), used = 0;
	struct pmp_buf name = { 0 };

	lock->kind = put_part(text, length, buffer, size, &used);
	text += length;
	length = strncmp(text, " (", 2) == 0 ? strcspn(text, ")") : 0;
	if (text[length] == ')') {
		lock->meaning = put_part(text + 2, length - 2, buffer, size, &used);
		text += length + 1;
	}
	pmp_buf_puts(&name, text + (*text == ' '));
	if (!pmp_buf_failed(&name))
		lock->name = put_text(&name, buffer, size, &used);
	pmp_buf_free(&name);
}

void pmp_live_lock(const struct pmp_live *live, const struct pmp_symbolizer *symbolizer,
		   size_t i, struct pmp_live_lock *lock, char *buffer, size_t size)
{
	const struct pmp_lock *found = pmp_live_get_lock(live, i);
	const struct pmp_wait wait = { .kind = found->kind };
	struct pmp_live_lock all = {
		.moved = lock->moved,
		.kind = pmp_wait_kind_name(&wait),
		.meaning = "",
		.is_lock = *found->text || pmp_wait_is_lock(&wait),
		.address = found->address,
		.inode = found->kind == PMP_WAIT_FILE,
		.name = "",
		.place = "",
		.wanted = PMP_LOCATION_NONE,
		.holder = found->holder_name,
	};
	struct pmp_buf name = { 0 }, place = { 0 };
	struct pmp_object object;
	size_t used = 0;

	if (*found->text) {
		take_text(&all, found->text, buffer, size);
		pmp_sized_give(lock, &all, sizeof(all));
		return;
	}
	if (!pmp_symbolizer_known_object(symbolizer, &found->object, &object)) {
		all.wanted = found->object.location;
	} else {
		pmp_object_move(&object, all.moved);
		pmp_object_name(&object, &name);
		pmp_object_place(&object, &place);
	}
	if (all.address)
		all.address += (uint64_t)(int64_t)all.moved;
	all.name = put_text(&name, buffer, size, &used);
	all.place = put_text(&place, buffer, size, &used);
	pmp_buf_free(&name);
	pmp_buf_free(&place);
	pmp_sized_give(lock, &all, sizeof(all));
}

/* ---- other processes ------------------------------------------------------------- */

/* Like put_text(), for a text that is already escaped. */
static const char *put_shown(const struct pmp_buf *text, char *buffer, size_t size,
			     size_t *used)
{
	return pmp_buf_failed(text) || !text->length
		       ? ""
		       : put_part(text->data, text->length, buffer, size, used);
}

bool pmp_live_outside(const struct pmp_live *live, size_t i,
		      struct pmp_live_outside *outside, char *buffer, size_t size)
{
	struct pmp_live_outside all = { .text = "", .brief = "", .who = "", .name = "" };
	struct pmp_buf text = { 0 }, brief = { 0 }, who = { 0 }, name = { 0 };
	const struct pmp_outside *what = NULL;
	struct pmp_snapshot snapshot;
	const struct pmp_wait *wait;
	size_t used = 0;

	if (i < pmp_live_thread_count(live))
		what = pmp_live_find_outside(live, i, &snapshot, &wait);
	if (what) {
		pmp_outside_describe(&text, what, wait, false);
		pmp_outside_describe(&brief, what, wait, true);
		if (pmp_wait_has_peers(wait->kind))
			pmp_outside_who(&who, &snapshot, what, wait);
		if (what->shown && what->sure == PMP_SURE_EXACT) {
			all.pid = snapshot.others[what->other].pid;
			pmp_buf_puts(&name, snapshot.others[what->other].name);
		}
	}
	all.name = put_text(&name, buffer, size, &used);
	all.brief = put_shown(&brief, buffer, size, &used);
	all.text = put_shown(&text, buffer, size, &used);
	all.who = put_shown(&who, buffer, size, &used);
	pmp_buf_free(&text);
	pmp_buf_free(&brief);
	pmp_buf_free(&who);
	pmp_buf_free(&name);
	pmp_sized_give(outside, &all, sizeof(all));
	return what;
}
