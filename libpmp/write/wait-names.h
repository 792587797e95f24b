/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the formats spell what a thread waits for. */
#ifndef PMP_WRITE_WAIT_NAMES_H
#define PMP_WRITE_WAIT_NAMES_H

#include "base/buf.h"
#include "report/stacks.h"
#include "report/wait-graph.h"
#include "report/wait-kinds.h"

/* "self", "ended", "free" and so on; "" for an ordinary or unknown holder. */
const char *pmp_wait_holder_name(const struct pmp_wait *wait);
/* Append the name of an object, "mysql_bin_log+0x10". False: none, nothing appended. */
bool pmp_object_name(const struct pmp_object *object, struct pmp_buf *buf);
/* Append where it is, "in the heap" or "in libfoo.so+0x4010"; nothing if unknown. */
void pmp_object_place(const struct pmp_object *object, struct pmp_buf *buf);
/* Is an object outside the process shown as such? Not if it stands for a lock of the
 * program's that is waited for by an event. */
bool pmp_wait_shows_outside(const struct pmp_named_wait *named);
/* Append what the thread of a node waits for: "mutex LOCK_log", or "mutex 0x7f31b8001a40"
 * if it has no name. Escaped for a terminal. */
void pmp_wait_object(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
		     size_t node);

/* Append the state of a barrier or semaphore, "3 of 4 have come" or "its value is 0",
 * between two texts; nothing if the memory tells nothing. */
void pmp_wait_said(struct pmp_buf *buf, const char *before, const struct pmp_said *said,
		   const char *after);
/* Append the thread inferred to have taken the lock that the thread of a node waits for,
 * after a text: `inferred: 13012 "worker-3" took it in the last 3.2 s`; nothing
 * if unknown. */
void pmp_wait_taker(struct pmp_buf *buf, const char *before,
		    const struct pmp_wait_graph *graph, size_t node);
/* Append the meaning to the program, " (metadata lock)"; nothing if there is none. */
void pmp_wait_meaning(struct pmp_buf *buf, const struct pmp_named_wait *named);

#endif
