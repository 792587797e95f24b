/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counted-wait.h"

#include <inttypes.h>
#include <string.h>

#include "report/wait-kinds.h"
#include "tally/group.h"

void pmp_counted_wait_get(const struct pmp_report *report, const struct pmp_entry *entry,
			  struct pmp_counted_wait *wait)
{
	const struct pmp_lock *lock = entry->waits ? entry->waits->lock : NULL;
	struct pmp_named_wait named;
	struct pmp_wait found;

	*wait = (struct pmp_counted_wait){ .kind = "" };
	if (!lock)
		return;
	if (*lock->text) {
		wait->lock = lock;
		wait->holder_is = lock->holder_is;
		wait->contended = pmp_lock_is_contended(lock);
		return;
	}
	found = (struct pmp_wait){
		.kind = lock->kind,
		.holder_is = lock->holder_is,
		.holder = lock->holder,
		.object = lock->address,
		.words.flags = lock->free_as,
	};
	pmp_report_name_wait(report, entry->locations, entry->location_count, &found,
			     &named);
	if (!named.lock)
		return;
	wait->lock = lock;
	wait->holder_is = lock->holder_is;
	if (named.wait.holder_is == PMP_HOLDER_FREE)
		wait->holder_is = PMP_HOLDER_FREE;
	wait->contended = lock->kind != PMP_WAIT_JOIN;
	wait->kind = named.kind;
	wait->meaning = named.meaning;
}

/* Length of "mutex 0x7f31b8001a40" up to the address. */
static size_t without_address(const char *text)
{
	const char *blank = strrchr(text, ' ');

	return blank && strncmp(blank, " 0x", 3) == 0 ? (size_t)(blank - text)
						      : strlen(text);
}

static void add_object(const struct pmp_report *report, const struct pmp_lock *lock,
		       bool addresses, struct pmp_buf *buf)
{
	const char *slash;
	struct pmp_object object;

	pmp_report_locate_lock(report, lock, &object);
	if (object.symbol) {
		pmp_buf_printf(buf, " %s", object.symbol);
		if (object.offset)
			pmp_buf_printf(buf, "+0x%" PRIx64, object.offset);
	} else if (object.in == PMP_IN_MODULE && object.module) {
		slash = strrchr(object.module, '/');
		pmp_buf_printf(buf, " %s+0x%" PRIx64, slash ? slash + 1 : object.module,
			       object.offset);
	} else if (addresses && lock->address) {
		pmp_buf_printf(buf, " 0x%" PRIx64, lock->address);
	}
}

void pmp_counted_wait_text(const struct pmp_report *report,
			   const struct pmp_counted_wait *wait, bool addresses,
			   struct pmp_buf *buf)
{
	const char *text = wait->lock->text;

	if (*text) {
		pmp_buf_add(buf, text, addresses ? strlen(text) : without_address(text));
		return;
	}
	pmp_buf_puts(buf, wait->kind);
	if (wait->meaning)
		pmp_buf_printf(buf, " (%s)", wait->meaning);
	if (wait->contended)
		add_object(report, wait->lock, addresses, buf);
}

const char *pmp_counted_wait_holder(const struct pmp_counted_wait *wait)
{
	const char *mark = pmp_lock_holder_mark(wait->holder_is);

	if (mark)
		return mark;
	/* The holder was not sampled, or was counted as one of many. */
	return *wait->lock->holder_name ? wait->lock->holder_name
					: pmp_lock_holder_mark(PMP_HOLDER_NONE);
}

/* Empty if the holder is a thread or unknown. */
static const char *holder_phrase(const struct pmp_counted_wait *wait)
{
	switch (wait->holder_is) {
	case PMP_HOLDER_FREE: return ", free";
	case PMP_HOLDER_SELF: return " held by itself";
	case PMP_HOLDER_PROCESS: return " held by another process";
	case PMP_HOLDER_BEFORE_FORK: return " locked before a fork";
	case PMP_HOLDER_ENDED: return " held by an ended thread";
	default: return "";
	}
}

void pmp_counted_wait_phrase(const struct pmp_report *report,
			     const struct pmp_counted_wait *wait, bool addresses,
			     struct pmp_buf *buf)
{
	const struct pmp_lock *lock = wait->lock;
	char group[64] = "";

	pmp_buf_puts(buf, "waits for ");
	if (wait->contended)
		pmp_counted_wait_text(report, wait, addresses, buf);
	else
		pmp_buf_puts(buf, "the end");
	pmp_buf_puts(buf, holder_phrase(wait));
	if (lock->holder_is != PMP_HOLDER_THREAD || !*lock->holder_name)
		return;
	pmp_group_fold(lock->holder_name, group, sizeof(group));
	pmp_buf_printf(buf, "%s%s", wait->contended ? " held by " : " of ", group);
}
