/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The past of a profile: the entry that each thread was counted in, for each sample, as far
 * back as memory allows. Any part of it can be counted again, see window.c. A view has a
 * history of its own, whose entries are its counters, and windows that move on with each
 * sample, see live-windows.c.
 *
 *	segment    the samples of some seconds; beyond a limit the oldest one is dropped
 *	sample     of a process: when, and what has changed since its last one
 *	change     a thread's entry, the CPU time that it has used, whom it waits for
 *
 * A thread that has not run adds no change, except in the first sample of its process in a
 * segment, which has all threads: so each segment can be read on its own. Threads have
 * small numbers, which are reused once they have ended.
 */
#ifndef PMP_TALLY_HISTORY_H
#define PMP_TALLY_HISTORY_H

#include "sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_NO_ROOT SIZE_MAX

/* What a change is about. */
enum pmp_change_kind {
	PMP_CHANGE_THREAD,
	PMP_CHANGE_MORE,  /* the rest of the change before it, whose values do not fit */
	PMP_CHANGE_GONE,  /* the thread has ended */
	PMP_CHANGE_STOPS, /* three times for which threads were stopped, plus 1; 0: none */
	PMP_CHANGE_LOSSES, /* truncated, not stopped, any stopped */
};

/* The weight of a thread that was found running, see pmp_cpu_time_weight(). */
enum pmp_change_weight {
	PMP_WEIGHT_NONE,
	PMP_WEIGHT_READY,
	PMP_WEIGHT_PROCESSOR,
};

struct pmp_change {
	uint32_t thread; /* number; MORE: the upper half of wall */
	uint32_t entry;	 /* MORE: the lower half of wall */
	uint32_t cpu;	 /* ns since its last sample; MORE: the upper half */
	/* Bits 0-2: kind, 3-4: weight, 5: a wait begins, 6-31: number of the thread that
	 * is charged with its time, plus 1; LOSSES: threads that vanished. */
	uint32_t flags;
};

#define PMP_CHANGE_KINDS 7u
#define PMP_CHANGE_WEIGHT_SHIFT 3
#define PMP_CHANGE_BEGINS 32u
#define PMP_CHANGE_ROOT_SHIFT 6
#define PMP_HISTORY_THREADS_MAX (UINT32_C(1) << 26)

static inline enum pmp_change_kind pmp_change_kind(const struct pmp_change *change)
{
	return (enum pmp_change_kind)(change->flags & PMP_CHANGE_KINDS);
}

static inline enum pmp_change_weight pmp_change_weight(const struct pmp_change *change)
{
	return (enum pmp_change_weight)(change->flags >> PMP_CHANGE_WEIGHT_SHIFT & 3);
}

static inline uint32_t pmp_change_root(const struct pmp_change *change)
{
	return change->flags >> PMP_CHANGE_ROOT_SHIFT;
}

/* The wall-clock time of a MORE. */
static inline uint64_t pmp_change_wall(const struct pmp_change *change)
{
	return (uint64_t)change->thread << 32 | change->entry;
}

struct pmp_past_sample {
	uint64_t time;
	uint64_t passed; /* ns since the process's last sample; 0: it is the first */
	pid_t pid;
	uint32_t changes;	    /* number of changes, next in the segment */
	uint32_t stacks;	    /* number of threads */
	uint32_t peeked, unchanged; /* of these */
	bool ended;		    /* not a sample: the process has ended */
};

struct pmp_segment {
	uint64_t number;
	uint64_t start;	      /* time of its first sample */
	uint64_t to_realtime; /* to be added to its times for CLOCK_REALTIME */
	bool after_gap;	      /* samples before it are missing */
	struct pmp_past_sample *samples;
	size_t sample_count, sample_capacity;
	struct pmp_change *changes;
	size_t change_count, change_capacity;
};

/* The position of a sample; all zero: the oldest one. */
struct pmp_history_position {
	uint64_t segment; /* its number */
	size_t sample, change;
};

/* How a thread of a sample was counted. */
struct pmp_history_find {
	uint32_t entry;
	enum pmp_change_weight weight;
	bool begins;   /* it begins a wait */
	uint64_t wall; /* since its last sample */
	uint64_t cpu;  /* used since then */
	size_t root;   /* index of the thread charged with its wait, or PMP_NO_ROOT */
};

struct pmp_history;

/* bytes, time (ns; 0: no limit): how much to keep; the newest segment is always kept.
 * losses: also keep stops and losses. NULL: out of memory. */
struct pmp_history *pmp_history_new(uint64_t bytes, uint64_t time, bool losses);
void pmp_history_free(struct pmp_history *history);

/* Reserve memory for a sample before pmp_history_add(), which need not follow. 0 or
 * PMP_ENOMEM. */
int pmp_history_begin(struct pmp_history *history, const struct pmp_sample *sample);
/* Add the sample given to pmp_history_begin(), with a find for each of its threads. */
void pmp_history_add(struct pmp_history *history, const struct pmp_sample *sample,
		     const struct pmp_history_find *finds);
/* The number of the oldest segment to keep by the limits of memory and time. */
uint64_t pmp_history_kept(const struct pmp_history *history, uint64_t now);
/* Drop all segments before this number. */
void pmp_history_drop(struct pmp_history *history, uint64_t kept);
/* A process has ended. */
void pmp_history_forget(struct pmp_history *history, pid_t pid);
/* Entry i becomes entry new[i]. */
void pmp_history_renumber(struct pmp_history *history, const uint32_t *new);
/* Add to counts[] how often each entry occurs in the history. */
void pmp_history_count(const struct pmp_history *history, uint64_t *counts);
/* Memory used, in bytes. */
uint64_t pmp_history_size(const struct pmp_history *history);

/* Segment i, the oldest first; NULL: there is none. Borrowed until more is added. */
const struct pmp_segment *pmp_history_segment(const struct pmp_history *history,
					      size_t i);
/* The sample at a position, and its changes; NULL: there is none yet. Skips segments that
 * have been dropped. Borrowed until more is added. */
const struct pmp_past_sample *pmp_history_at(const struct pmp_history *history,
					     struct pmp_history_position *position,
					     const struct pmp_change **changes);
/* Are samples missing right before this position? */
bool pmp_history_is_after_gap(const struct pmp_history *history,
			      const struct pmp_history_position *position);
/* All numbers of threads are below this. */
size_t pmp_history_thread_count(const struct pmp_history *history);

/* Advance from the sample at a position to the next one. */
static inline void pmp_history_go_on(struct pmp_history_position *position,
				     const struct pmp_past_sample *sample)
{
	position->sample++;
	position->change += sample->changes;
}

#endif
