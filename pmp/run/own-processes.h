/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With --children a child of the front is taken for one that was left to it: it is sampled,
 * and reaped when it ends. Which ones are not: those that the front starts for itself while
 * the sampler runs (writers, whatever fetches, another sampler), in memory that both have.
 */
#ifndef PMP_RUN_OWN_PROCESSES_H
#define PMP_RUN_OWN_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

#define OWN_PROCESSES_MAX 80
#define OWN_PROCESSES_SINGLE 16 /* of these are for what there is one of */

struct own_processes;

/** Before the sampler is started. NULL: no memory. */
struct own_processes *own_processes_new(void);
/** The sampler has memory of its own. This and all others take NULL. */
void own_processes_free(struct own_processes *own);

/** The front, in any thread: one is about to be forked, and then: it has been, or has not (-1).
 * There is room for OWN_PROCESSES_MAX at a time. */
void own_processes_begin(struct own_processes *own);
void own_processes_add(struct own_processes *own, pid_t pid);
/** It has been reaped. */
void own_processes_remove(struct own_processes *own, pid_t pid);
/** It does not end, and whoever has started it does not wait for it any more. */
void own_processes_abandon(struct own_processes *own, pid_t pid);

/** The sampler: is that one of them? Waits while one is being forked. */
bool own_processes_has(const struct own_processes *own, pid_t pid);
/** The front: is it one of them, and will be reaped by whoever has started it? Waits as well. */
bool own_processes_awaits(const struct own_processes *own, pid_t pid);

#endif
