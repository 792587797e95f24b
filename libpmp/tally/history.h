/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The past of a profile: in which entry each thread was counted in each sample, for as far
 * back as there is memory. Any part of it can be counted again: window.c. A view has one
 * of its own, whose entries are its counters, and windows that go on with each sample:
 * live-windows.c.
 *
 *	segment    the samples of some seconds; the oldest one goes when there are too many
 *	sample     of a process: when, and what has changed since its last one
 *	change     a thread's entry, the CPU time that it has used, who it waits for
 *
 * A thread that has not run adds nothing, but in the first sample of its process in a
 * segment, which has all threads: so what was before a segment is not needed to read it.
 * Threads have small numbers, which are used again once they have ended.
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
	PMP_CHANGE_MORE,  /* of the thread before: see below */
	PMP_CHANGE_GONE,  /* the thread is not there any more */
	PMP_CHANGE_STOPS, /* three times for which threads were stopped, plus 1; 0: none */
	PMP_CHANGE_LOSSES, /* truncated, not stopped, any stopped */
};

/* Of a thread that was found running, see pmp_cpu_time_weight(). */
enum pmp_change_weight {
	PMP_WEIGHT_NONE,
	PMP_WEIGHT_READY,
	PMP_WEIGHT_PROCESSOR,
};

struct pmp_change {
	uint32_t thread; /* number; of MORE the upper half of wall */
	uint32_t entry;	 /* of MORE the lower half */
	uint32_t cpu;	 /* ns since its last sample; of MORE the upper half */
	/* Bits 0-2: kind, 3-4: weight, 5: a wait begins, 6-31: number of the thread that
	 * is charged with its time, plus 1; of LOSSES: vanished. */
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

/* Of MORE. */
static inline uint64_t pmp_change_wall(const struct pmp_change *change)
{
	return (uint64_t)change->thread << 32 | change->entry;
}

struct pmp_past_sample {
	uint64_t time;
	uint64_t passed; /* ns since the process's last sample; 0: it is the first */
	pid_t pid;
	uint32_t changes; /* the next ones of its segment */
	uint32_t stacks;  /* threads; how they were obtained: */
	uint32_t peeked, unchanged;
	bool ended; /* no sample: the process has */
};

struct pmp_segment {
	uint64_t number;
	uint64_t start;	      /* time of its first sample */
	uint64_t to_realtime; /* what is to be added to a time for CLOCK_REALTIME */
	bool after_gap;	      /* samples before it are missing */
	struct pmp_past_sample *samples;
	size_t sample_count, sample_capacity;
	struct pmp_change *changes;
	size_t change_count, change_capacity;
};

/* A sample of the past; zero: the oldest one. */
struct pmp_history_position {
	uint64_t segment; /* its number */
	size_t sample, change;
};

/* How a thread of a sample was counted. */
struct pmp_history_find {
	uint32_t entry;
	enum pmp_change_weight weight;
	bool begins;   /* a wait that it was not in before */
	uint64_t wall; /* since its last sample */
	uint64_t cpu;  /* used, likewise */
	size_t root;   /* thread of the sample that is charged with it, or PMP_NO_ROOT */
};

struct pmp_history;

/* So many bytes, of at most that time (ns); one segment is kept in any case. losses: also
 * what stops and losses there were. NULL: no memory. */
struct pmp_history *pmp_history_new(uint64_t bytes, uint64_t time, bool losses);
void pmp_history_free(struct pmp_history *history);

/* Make room for a sample, which may be the one that is added next. 0 or PMP_ENOMEM. */
int pmp_history_begin(struct pmp_history *history, const struct pmp_sample *sample);
/* The sample of pmp_history_begin(); a find for each of its threads. */
void pmp_history_add(struct pmp_history *history, const struct pmp_sample *sample,
		     const struct pmp_history_find *finds);
/* The number of the oldest segment that is not too much, or too old. */
uint64_t pmp_history_kept(const struct pmp_history *history, uint64_t now);
/* Drop all segments before it. */
void pmp_history_drop(struct pmp_history *history, uint64_t kept);
/* A process has ended. */
void pmp_history_forget(struct pmp_history *history, pid_t pid);
/* Entry i is new[i] from now on. */
void pmp_history_renumber(struct pmp_history *history, const uint32_t *new);
/* Add to counts[] how often the history has each entry. */
void pmp_history_count(const struct pmp_history *history, uint64_t *counts);
/* The bytes that it takes. */
uint64_t pmp_history_size(const struct pmp_history *history);

/* In the order of time; NULL: there is none. Borrowed until more is added. */
const struct pmp_segment *pmp_history_segment(const struct pmp_history *history,
					      size_t i);
/* The sample at a position, and its changes; NULL: there is none yet. What has been dropped
 * is passed over. Borrowed likewise. */
const struct pmp_past_sample *pmp_history_at(const struct pmp_history *history,
					     struct pmp_history_position *position,
					     const struct pmp_change **changes);
/* Are samples missing before the one at this position? */
bool pmp_history_is_after_gap(const struct pmp_history *history,
			      const struct pmp_history_position *position);
/* Numbers of threads are below it. */
size_t pmp_history_thread_count(const struct pmp_history *history);

/* From the sample at a position to the next one. */
static inline void pmp_history_go_on(struct pmp_history_position *position,
				     const struct pmp_past_sample *sample)
{
	position->sample++;
	position->change += sample->changes;
}

#endif
