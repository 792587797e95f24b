/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counted-wait.h"

#include <inttypes.h>
#include <string.h>

#include "report/wait-kinds.h"

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
		wait->contended = pmp_lock_is_contended(lock);
		return;
	}
	found = (struct pmp_wait){
		.kind = lock->kind,
		.holder_is = lock->holder_is,
		.holder = lock->holder,
		.object = lock->address,
	};
	pmp_report_name_wait(report, entry->locations, entry->location_count, &found,
			     &named);
	if (!named.lock)
		return;
	wait->lock = lock;
	wait->contended = lock->kind != PMP_WAIT_JOIN;
	wait->kind = named.kind;
	wait->meaning = named.meaning;
}

/* "mutex 0x7f31b8001a40" without its address. */
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
	const char *mark =
		pmp_lock_holder_mark((enum pmp_holder_is)wait->lock->holder_is);

	if (mark)
		return mark;
	/* It was not in the sample, or was counted as one of many. */
	return *wait->lock->holder_name ? wait->lock->holder_name
					: pmp_lock_holder_mark(PMP_HOLDER_NONE);
}
