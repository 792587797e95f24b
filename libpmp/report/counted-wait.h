/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of an entry waited for, named from the bytes of the lock, from the
 * functions of the stack, or from the text of a saved profile. */
#ifndef PMP_REPORT_COUNTED_WAIT_H
#define PMP_REPORT_COUNTED_WAIT_H

#include "base/buf.h"
#include "report/report.h"

struct pmp_counted_wait {
	const struct pmp_lock *lock;  /* NULL: not a lock */
	enum pmp_holder_is holder_is; /* may be "free", which only functions tell */
	bool contended;		      /* threads take it in turn; false for a join */
	const char *kind;    /* "mutex"; "" if from a saved profile: see lock->text */
	const char *meaning; /* "metadata lock", or NULL */
};

/* May look up function names. */
void pmp_counted_wait_get(const struct pmp_report *report, const struct pmp_entry *entry,
			  struct pmp_counted_wait *wait);
/* Append kind and name, "mutex LOCK_log+0x10". addresses: show an unnamed lock by its
 * address, "mutex 0x7f31b8001a40". */
void pmp_counted_wait_text(const struct pmp_report *report,
			   const struct pmp_counted_wait *wait, bool addresses,
			   struct pmp_buf *buf);
/* Append a phrase, "waits for mutex LOCK_log held by conn-N", which names the holder's
 * group. addresses: as above. */
void pmp_counted_wait_phrase(const struct pmp_report *report,
			     const struct pmp_counted_wait *wait, bool addresses,
			     struct pmp_buf *buf);
/* The holder's name, or a mark such as "[no holder]". */
const char *pmp_counted_wait_holder(const struct pmp_counted_wait *wait);

#endif
