/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a heap holds, for the view: it comes from the source, the worker gives it its names,
 * and then the model has it.
 */
#ifndef PMP_VIEW_READ_HEAP_H
#define PMP_VIEW_READ_HEAP_H

#include <stdbool.h>
#include <sys/types.h>

struct counting;
struct session;

/** Begin to read that of a process; 0: of the first that is there. */
void read_heap_begin(struct session *session, pid_t pid);
/** Is there something new to show? To be called in each turn of the loop. */
bool read_heap_take(struct session *session);
/** Where the census that is shown is the last snapshot; NULL: none is. Valid until
 * read_heap_take(). */
const struct counting *read_heap_counting(const struct session *session);
/** After worker_stop(). */
void read_heap_free(struct session *session);

#endif
