/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the formats spell what and whom threads wait for outside their process. */
#ifndef PMP_WRITE_OUTSIDE_NAMES_H
#define PMP_WRITE_OUTSIDE_NAMES_H

#include "base/buf.h"
#include "report/stacks.h"

/* One word: "flock", "pipe", "tcp". */
const char *pmp_outside_type_name(const struct pmp_outside *what);
/* "exact", "candidates", "inferred", "unknown" */
const char *pmp_sure_name(const struct pmp_outside *what);
/* "holds", "can write" */
const char *pmp_role_name(const struct pmp_other *other);

/*
 * Append what it is: "flock zoo.lock, inode 5243021, held for writing", "pipe 442102"; if
 * brief, "flock zoo.lock". wait: the wait of one of the waiters. All text is escaped.
 */
void pmp_outside_describe(struct pmp_buf *buf, const struct pmp_outside *what,
			  const struct pmp_wait *wait, bool brief);
/* Append who is waited for: "6330 "producer" can write (fd 4)", or that it is unknown. */
void pmp_outside_who(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
		     const struct pmp_outside *what, const struct pmp_wait *wait);
/* Append the processes that hold it: "process 6110 "lockowner"", "processes 6110 "a" and
 * 6111 "b"". There must be at least one. */
void pmp_outside_holders(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
			 const struct pmp_outside *what);

#endif
