/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread for whatever may take long: looking up names, writing a profile, syncing and
 * renaming its file. There is one lock for all that is the symbolizer's and the profile's:
 * the run holds it but while it waits; a job holds it while it works.
 */
#ifndef PMP_RUN_WORKER_H
#define PMP_RUN_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* One thing to do; the caller's, until it is done. */
struct job {
	void (*work)(void *arg);
	void *arg;
	bool queued; /* it waits, or is being done */
	bool done;
	struct job *next;
};

/** The caller holds its lock from now on. There is no thread before the first job; it calls
 * begin() first of all. NULL: no memory. */
struct worker *worker_new(void (*begin)(void));
/** Another thread, which works under the lock of the first one and is freed before it. NULL: no
 * memory. */
struct worker *worker_new_beside(const struct worker *other);
/** Ends the thread, after the job that it is doing; another job begins one again. Takes
 * NULL. */
void worker_stop(struct worker *worker);
/** After worker_stop(). Takes NULL. */
void worker_free(struct worker *worker);

/** Let the lock go, and take it again. A job may do that, too. */
void worker_unlock(struct worker *worker);
void worker_lock(struct worker *worker);

/** Have it done after those that wait. False: there can be no thread. */
bool worker_submit(struct worker *worker, struct job *job);
/** Has it been done? */
bool worker_has_done(const struct job *job);
/** Does it wait for a job? */
bool worker_is_idle(const struct worker *worker);
/** In a job that can go on later: is it to make room for another, or for the end? */
bool worker_is_wanted(const struct worker *worker);
/** Readable when a job has been done; emptied by worker_take(). */
int worker_wake(const struct worker *worker);
void worker_take(struct worker *worker);

#endif
