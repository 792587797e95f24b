/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With --children a child of the front is taken for an orphan that was reparented to it: it
 * is sampled, and reaped when it ends. This list, in memory shared with the sampler, has
 * the exceptions: what the front starts for itself while the sampler runs (writers,
 * fetching programs, another sampler).
 */
#ifndef PMP_RUN_OWN_PROCESSES_H
#define PMP_RUN_OWN_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

#define OWN_PROCESSES_MAX 80
#define OWN_PROCESSES_SINGLE 16 /* places of these for processes that exist only once */

struct own_processes;

/** Must be called before the sampler is started. NULL: no memory. */
struct own_processes *own_processes_new(void);
/** The sampler's mapping stays. This and the functions below take NULL. */
void own_processes_free(struct own_processes *own);

/** For the front, in any thread: begin() before fork(), then add() its result (-1: it
 * failed). There is room for OWN_PROCESSES_MAX at a time. */
void own_processes_begin(struct own_processes *own);
void own_processes_add(struct own_processes *own, pid_t pid);
/** The process has been reaped. */
void own_processes_remove(struct own_processes *own, pid_t pid);
/** The process does not end, and its parent thread has given up waiting for it. */
void own_processes_abandon(struct own_processes *own, pid_t pid);

/** For the sampler: is pid in the list? Waits while a process is being forked. */
bool own_processes_has(const struct own_processes *own, pid_t pid);
/** For the front: is pid in the list and not abandoned, so that its starter
 * reaps it? Waits as well. */
bool own_processes_awaits(const struct own_processes *own, pid_t pid);

#endif
