/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What several samples of a process say of its waits that one does not: since when a thread
 * has been found in the same wait, and who has taken a lock by leaving its queue. Both are
 * deduced from what was seen at some moments: never part of what is proven.
 */
#ifndef PMP_TALLY_WAIT_HISTORY_H
#define PMP_TALLY_WAIT_HISTORY_H

#include "sample.h"

#include <stddef.h>

/* Of a thread of the last sample. */
struct pmp_past_wait {
	pid_t tid;
	uint8_t kind;  /* PMP_WAIT_NONE: it waits for nothing known */
	bool timed;    /* it may give up */
	bool unproven; /* it may have been in another wait */
	uint64_t object, stack, reading;
	uint64_t
		since; /* time of the first sample; all since have found it in this wait */
};

/* The thread that has taken the lock at an address. */
struct pmp_taken_lock {
	uint64_t object; /* first, see base/search.h */
	pid_t taker;
	uint64_t after; /* the time of the sample in which it still waited */
};

/* Of one process; zero it. */
struct pmp_wait_history {
	pid_t pid;
	uint64_t time;		     /* of the last sample; 0: none yet */
	struct pmp_past_wait *waits; /* in the order of ids */
	size_t count, capacity;
	struct pmp_past_wait *spare; /* for the next sample */
	size_t spare_capacity;
	struct pmp_taken_lock *taken; /* in the order of addresses */
	size_t taken_count, taken_capacity;
	struct pmp_taken_lock *spare_taken;
	size_t spare_taken_capacity;
	const struct pmp_past_wait **queues; /* of the sample before, by locks */
	size_t queue_capacity;
};

/* Take up a sample of the same process. 0 or PMP_ENOMEM; then all is forgotten. */
int pmp_wait_history_add(struct pmp_wait_history *history,
			 const struct pmp_sample *sample);
/* What the last sample has of a thread, or NULL. */
const struct pmp_past_wait *pmp_wait_history_of(const struct pmp_wait_history *history,
						pid_t tid);
/* The same of the thread that has probably this index. */
const struct pmp_past_wait *pmp_wait_history_near(const struct pmp_wait_history *history,
						  pid_t tid, size_t at);
/*
 * Who has taken the lock that a thread of the last sample waits for; NULL: not known, or it
 * waits for nothing that can be taken.
 *
 * Between two samples exactly one of those that waited for it has run, and waits for it no
 * more: it was woken and has the lock. That is so for as long as none of the others runs,
 * one waits, and it does not come back. Who does not wait may take a lock that is free for
 * an instant, so it is an inference; by locks that name their holders 98 of 100 are right.
 */
const struct pmp_taken_lock *
pmp_wait_history_taken(const struct pmp_wait_history *history, pid_t tid);
void pmp_wait_history_free(struct pmp_wait_history *history);

/* One for each process; of very many, those that were seen last. Zero it. */
struct pmp_wait_histories {
	struct pmp_wait_history *items;
	size_t count, capacity;
	size_t next; /* most likely that of the next sample */
};

/* Take up a sample in the history of its process, which is valid until the next call. NULL:
 * no memory. */
const struct pmp_wait_history *
pmp_wait_histories_add(struct pmp_wait_histories *histories,
		       const struct pmp_sample *sample);
/* A process has ended. */
void pmp_wait_histories_drop(struct pmp_wait_histories *histories, pid_t pid);
void pmp_wait_histories_free(struct pmp_wait_histories *histories);

#endif
