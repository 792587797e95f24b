/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of an entry waited for, with its names: by the bytes of the lock, by the
 * functions of the stack, or as a saved profile says. */
#ifndef PMP_REPORT_COUNTED_WAIT_H
#define PMP_REPORT_COUNTED_WAIT_H

#include "base/buf.h"
#include "report/report.h"

struct pmp_counted_wait {
	const struct pmp_lock *lock;  /* NULL: it was no lock */
	enum pmp_holder_is holder_is; /* of it; its functions may tell that it is free */
	bool contended;	     /* one that threads have in turn: not the end of one */
	const char *kind;    /* "mutex"; "" of a saved profile: lock->text has it */
	const char *meaning; /* "metadata lock", or NULL */
};

/* Looks up names of functions. */
void pmp_counted_wait_get(const struct pmp_report *report, const struct pmp_entry *entry,
			  struct pmp_counted_wait *wait);
/* Append its kind and name, "mutex LOCK_log+0x10"; addresses: what has no name is known by
 * its address, "mutex 0x7f31b8001a40". */
void pmp_counted_wait_text(const struct pmp_report *report,
			   const struct pmp_counted_wait *wait, bool addresses,
			   struct pmp_buf *buf);
/* Append it as a phrase, "waits for mutex LOCK_log held by conn-N", by the group of the
 * holder; addresses: as above. */
void pmp_counted_wait_phrase(const struct pmp_report *report,
			     const struct pmp_counted_wait *wait, bool addresses,
			     struct pmp_buf *buf);
/* The name of the holder, or what is known instead: "[no holder]". */
const char *pmp_counted_wait_holder(const struct pmp_counted_wait *wait);

#endif
