/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the formats spell what a thread waits for. */
#ifndef PMP_WRITE_WAIT_NAMES_H
#define PMP_WRITE_WAIT_NAMES_H

#include "base/buf.h"
#include "report/stacks.h"
#include "report/wait-graph.h"
#include "report/wait-kinds.h"

/* "self", "ended", "free" and so on; "" if it is just a thread, or none is known. */
const char *pmp_wait_holder_name(const struct pmp_wait *wait);
/* Append what an object is called, "mysql_bin_log+0x10"; false, and nothing: it has no
 * name. */
bool pmp_object_name(const struct pmp_object *object, struct pmp_buf *buf);
/* Append where it lies, "in the heap" or "in libfoo.so+0x4010"; nothing if not known. */
void pmp_object_place(const struct pmp_object *object, struct pmp_buf *buf);
/* Is what it waits for outside of its process shown as such? Not if its meaning is a lock,
 * which the program waits for by an event. */
bool pmp_wait_shows_outside(const struct pmp_named_wait *named);
/* Append "mutex LOCK_log", or "mutex 0x7f31b8001a40" where it has no name: what the thread
 * of a node waits for, fit for a terminal. */
void pmp_wait_object(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
		     size_t node);

/* Append what its memory says of a barrier or a semaphore, "3 of 4 have come" or "its value
 * is 0", between two texts; nothing if it says nothing. */
void pmp_wait_said(struct pmp_buf *buf, const char *before, const struct pmp_said *said,
		   const char *after);
/* Append who was inferred to have taken what the thread of a node waits for, after a text:
 * `inferred: 13012 "worker-3" took it in the last 3.2 s`; nothing if that is not known. */
void pmp_wait_taker(struct pmp_buf *buf, const char *before,
		    const struct pmp_wait_graph *graph, size_t node);
/* Append what it is to the program, " (metadata lock)"; nothing if it is nothing special. */
void pmp_wait_meaning(struct pmp_buf *buf, const struct pmp_named_wait *named);

#endif
