/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What recorders have written down, counted: the blocks that were chosen and live, what each
 * stack has allocated and what of that lives, and the exact totals of each process.
 *
 *     heap batch -> stack (allocated: estimated by weights)
 *                -> block (pointer: its stack, weight, size, time) until it is freed
 *     all blocks -> what lives of each stack, by age: summed up when it is asked for
 */
#ifndef PMP_TALLY_HEAP_H
#define PMP_TALLY_HEAP_H

#include "heap-batch.h"
#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "tally/blocks.h"
#include "tally/heap-base.h"
#include "tally/heap-past.h"
#include "tally/heap-sums.h"
#include "tally/stack-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process that is or was recorded. */
struct pmp_process_heap {
	pid_t pid;		  /* 0: several that have ended, as there were too many */
	uint64_t others;	  /* then: how many */
	char name[PMP_NAME_SIZE]; /* raw bytes, with a NUL */
	struct pmp_heap_totals totals; /* of its program */
	/* What it has done in programs before an exec, and what lived when that came. */
	uint64_t earlier_allocated, earlier_freed, dropped;
	uint64_t earlier_calls, earlier_frees, earlier_lost, earlier_stackless;
	/* Of all its programs: calls that are counted in stacks, and their usable bytes. */
	uint64_t recorded, recorded_bytes;
	uint64_t first, time; /* CLOCK_MONOTONIC, of the first and last batch; ages are by
			       * the last one */
	uint64_t unknown_frees; /* --heap=exact: of no block that is known to live */
	bool ended;
};

struct pmp_heap;

/* by_thread, details: what is kept apart, see struct pmp_entry; names of threads are those
 * of their groups. memory: bytes for blocks, about; 0: no limit. NULL: no memory. */
struct pmp_heap *pmp_heap_new(bool by_thread, bool details, uint64_t memory);
void pmp_heap_free(struct pmp_heap *heap);
/* Keep how all was in the last minute, from now on. 0 or PMP_ENOMEM. */
int pmp_heap_keep_past(struct pmp_heap *heap);
/* Count a batch. 0 or PMP_ENOMEM, or PMP_EINVAL: its numbers contradict each other. */
int pmp_heap_add(struct pmp_heap *heap, const struct pmp_heap_batch *batch,
		 struct pmp_symbolizer *symbolizer);
/* A process has ended: what lived then stays. */
void pmp_heap_forget(struct pmp_heap *heap, pid_t pid);
/*
 * Sum up what lives of each stack at a time (CLOCK_MONOTONIC; or that of the last batch of
 * its process, if that is later or the process has ended), of blocks that are at least so
 * old (ns), and set the counts of all entries to that value. `survived` becomes the rate at which blocks live
 * for a minute: the bytes of those that are one minute to two minutes old, a second.
 * since: what a change is counted from, or NULL.
 */
void pmp_heap_sum(struct pmp_heap *heap, uint64_t now, uint64_t age,
		  enum pmp_heap_value value, const struct pmp_heap_base *since);
/* Keep what each stack has allocated by now, and what of that lives. 0 or PMP_ENOMEM. */
int pmp_heap_take_base(struct pmp_heap *heap, uint64_t now, uint64_t age,
		       struct pmp_heap_base **base);
/* Until when it has lived: now, or its end; of a saved profile the end of that. */
uint64_t pmp_process_heap_time(const struct pmp_process_heap *process, uint64_t now);
/* Of a saved profile: a stack, with its heap; what lives stays as it is. 0 or PMP_ENOMEM. */
int pmp_heap_count(struct pmp_heap *heap, const struct pmp_entry *entry);
/* Of a saved profile: a process. 0 or PMP_ENOMEM. */
int pmp_heap_add_process(struct pmp_heap *heap, const struct pmp_process_heap *process);

/* All stacks; they have a heap. Borrowed until more is counted. */
const struct pmp_entries *pmp_heap_entries(const struct pmp_heap *heap);
const struct pmp_process_heap *pmp_heap_processes(const struct pmp_heap *heap,
						  size_t *count);
/* The blocks that are known to live, with what was dropped of them. */
const struct pmp_blocks *pmp_heap_blocks(const struct pmp_heap *heap);
/* How all was at a time: see heap-past.h; NULL: not known. */
const struct pmp_heap_moment *pmp_heap_was(const struct pmp_heap *heap, uint64_t time);
/* The sums of all processes. */
struct pmp_heap_exact pmp_heap_exact(const struct pmp_heap *heap);
/* When the last batch of any process was taken: CLOCK_MONOTONIC, or 0. */
uint64_t pmp_heap_heard(const struct pmp_heap *heap);
/* Has anything been recorded? */
bool pmp_heap_is_used(const struct pmp_heap *heap);
/* Records that were lost before they came here. */
uint64_t pmp_heap_lost(const struct pmp_heap *heap);
/* Samples that have no stack, as it could not be walked any more; and processes that were not
 * recorded, as there was no place for them. */
uint64_t pmp_heap_stackless(const struct pmp_heap *heap);
uint64_t pmp_heap_unrecorded(const struct pmp_heap *heap);
/* The calls that a process has allocated by, in all its programs; and how many records of it
 * are missing, so that the sums of its stacks are not those of its totals. */
uint64_t pmp_process_heap_calls(const struct pmp_process_heap *process);
uint64_t pmp_process_heap_missing(const struct pmp_process_heap *process);
uint64_t pmp_process_heap_stackless(const struct pmp_process_heap *process);

/* Bounded memory: the bytes that it takes; merge the stacks that allocated least; the
 * locations that are used. 0 or PMP_ENOMEM. */
uint64_t pmp_heap_size(const struct pmp_heap *heap);
int pmp_heap_shrink(struct pmp_heap *heap);
void pmp_heap_mark(const struct pmp_heap *heap, bool *used);

#endif
