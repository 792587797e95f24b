/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the contents of a heap for the view: the source takes a census, the worker looks
 * up its names, and the model shows it.
 */
#ifndef PMP_VIEW_READ_HEAP_H
#define PMP_VIEW_READ_HEAP_H

#include <stdbool.h>
#include <sys/types.h>

struct counting;
struct session;

/** Begin to read the heap of a process; 0: of the first live one. */
void read_heap_begin(struct session *session, pid_t pid);
/** Is there something new to show? Call it in each turn of the loop. */
bool read_heap_take(struct session *session);
/** The counting whose last snapshot is the census shown; NULL: none. Valid until the next
 * read_heap_take(). */
const struct counting *read_heap_counting(const struct session *session);
/** Call it after worker_stop(). */
void read_heap_free(struct session *session);

#endif
