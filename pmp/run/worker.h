/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread for slow work: looking up names, writing a profile, syncing and renaming its
 * file. One lock protects the symbolizer and the profile: the run holds it except while it
 * waits; a job holds it while it works.
 */
#ifndef PMP_RUN_WORKER_H
#define PMP_RUN_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* One piece of work; owned by the caller, who must keep it until it is done. */
struct job {
	void (*work)(void *arg);
	void *arg;
	bool queued; /* it has not begun */
	bool done;
	struct job *next;
};

/** On return the caller holds the lock. The thread is created for the first job, and calls
 * begin() first. NULL: no memory. */
struct worker *worker_new(void (*begin)(void));
/** Another thread that shares the lock of the first one and must be freed
 * before it. NULL: no memory. */
struct worker *worker_new_beside(const struct worker *other);
/** End the thread after its current job; the next job starts another one. Takes NULL. */
void worker_stop(struct worker *worker);
/** After worker_stop(). Takes NULL. */
void worker_free(struct worker *worker);

/** Release and take the lock. Jobs may do so, too. */
void worker_unlock(struct worker *worker);
void worker_lock(struct worker *worker);

/** Add a job to the end of the queue. False: no thread can be created. */
bool worker_submit(struct worker *worker, struct job *job);
/** Is the job done? */
bool worker_has_done(const struct job *job);
/** Is there no job, neither queued nor running? */
bool worker_is_idle(const struct worker *worker);
/** For a job that can continue later: does another job wait, or worker_stop()? */
bool worker_is_wanted(const struct worker *worker);
/** A descriptor that is readable when a job is done, until worker_take() is called. */
int worker_wake(const struct worker *worker);
void worker_take(struct worker *worker);

#endif
