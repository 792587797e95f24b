/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting what recorders have recorded: the sampled blocks that are live, what each stack
 * has allocated and how much of that is live, and the exact totals of each process.
 *
 *     heap batch -> stack (allocated: estimated by weights)
 *                -> block (pointer: its stack, weight, size, time) until it is freed
 *     all blocks -> what is live of each stack, by age: summed up on demand
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
	pid_t pid;		       /* 0: merged processes that have ended */
	uint64_t others;	       /* number of merged processes, if pid is 0 */
	char name[PMP_NAME_SIZE];      /* raw bytes, with a NUL */
	struct pmp_heap_totals totals; /* of its current program */
	uint64_t program;	       /* its number; 0: unknown */
	/* Totals of its programs before an exec; dropped: bytes that were live then. */
	uint64_t earlier_allocated, earlier_freed, dropped;
	uint64_t earlier_calls, earlier_frees, earlier_lost, earlier_stackless;
	/* Of all its programs: calls that are counted in stacks, and their usable bytes. */
	uint64_t recorded, recorded_bytes;
	uint64_t first, time;	/* of the first and last batch, CLOCK_MONOTONIC; ages are
			       * relative to the last one */
	uint64_t unknown_frees; /* --heap=exact: frees of blocks not known to be live */
	bool ended;
};

struct pmp_heap;

/* by_thread, details: what is kept apart, see struct pmp_entry; unless by_thread, threads
 * have the names of their groups. memory: approximate limit for blocks, in bytes; 0: no
 * limit. NULL: out of memory. */
struct pmp_heap *pmp_heap_new(bool by_thread, bool details, uint64_t memory);
void pmp_heap_free(struct pmp_heap *heap);
/* From now on, keep states of the last minute, see heap-past.h. 0 or PMP_ENOMEM. */
int pmp_heap_keep_past(struct pmp_heap *heap);
/* Count a batch. 0, PMP_ENOMEM, or PMP_EINVAL: the batch is inconsistent. */
int pmp_heap_add(struct pmp_heap *heap, const struct pmp_heap_batch *batch,
		 struct pmp_symbolizer *symbolizer);
/* A process has ended. Blocks that are live then stay live. */
void pmp_heap_forget(struct pmp_heap *heap, pid_t pid);
/*
 * Sum up the live blocks of each stack that are at least `age` ns old, and set the count of
 * each entry to `value`. Ages are relative to now (CLOCK_MONOTONIC), or to the last batch
 * of the process if that is later or the process has ended. `survived` becomes the bytes
 * per second that outlive a minute: those of blocks that are one to two minutes old, over
 * that minute. since: what changes are counted from, or NULL.
 */
void pmp_heap_sum(struct pmp_heap *heap, uint64_t now, uint64_t age,
		  enum pmp_heap_value value, const struct pmp_heap_base *since);
/* Keep what each stack has allocated by now, and how much of that is live. 0 or
 * PMP_ENOMEM. */
int pmp_heap_take_base(struct pmp_heap *heap, uint64_t now, uint64_t age,
		       struct pmp_heap_base **base);
/* The end of the process's known life: now, or its last batch if it has ended; in a saved
 * profile the end of that. */
uint64_t pmp_process_heap_time(const struct pmp_process_heap *process, uint64_t now);
/* Add a stack of a saved profile with its heap sums, of which the live ones are kept as
 * they are. 0 or PMP_ENOMEM. */
int pmp_heap_count(struct pmp_heap *heap, const struct pmp_entry *entry);
/* Add a process of a saved profile. 0 or PMP_ENOMEM. */
int pmp_heap_add_process(struct pmp_heap *heap, const struct pmp_process_heap *process);

/* All stacks; each has .heap set. Borrowed until more is counted. */
const struct pmp_entries *pmp_heap_entries(const struct pmp_heap *heap);
const struct pmp_process_heap *pmp_heap_processes(const struct pmp_heap *heap,
						  size_t *count);
/* The blocks known to be live, and how many were evicted. */
const struct pmp_blocks *pmp_heap_blocks(const struct pmp_heap *heap);
/* The state at a time, see heap-past.h; NULL: not known. */
const struct pmp_heap_moment *pmp_heap_was(const struct pmp_heap *heap, uint64_t time);
/* The exact sums over all processes. */
struct pmp_heap_exact pmp_heap_exact(const struct pmp_heap *heap);
/* The time of the last batch of any process, CLOCK_MONOTONIC, or 0. */
uint64_t pmp_heap_heard(const struct pmp_heap *heap);
/* Has anything been recorded? */
bool pmp_heap_is_used(const struct pmp_heap *heap);
/* The number of records that were lost before they could be counted. */
uint64_t pmp_heap_lost(const struct pmp_heap *heap);
/* The number of samples without a stack, as it could not be unwound any more; of processes
 * that were not recorded, as there was no entry for them. */
uint64_t pmp_heap_stackless(const struct pmp_heap *heap);
uint64_t pmp_heap_unrecorded(const struct pmp_heap *heap);
/* Of all programs of a process: calls that allocated; records that are missing, so that the
 * sums of its stacks do not match its totals; samples without a stack. */
uint64_t pmp_process_heap_calls(const struct pmp_process_heap *process);
uint64_t pmp_process_heap_missing(const struct pmp_process_heap *process);
uint64_t pmp_process_heap_stackless(const struct pmp_process_heap *process);

/* Bounded memory: the memory used, in bytes; merge the stacks that allocated least, 0 or
 * PMP_ENOMEM; set used[] of the locations of all stacks. */
uint64_t pmp_heap_size(const struct pmp_heap *heap);
int pmp_heap_shrink(struct pmp_heap *heap);
void pmp_heap_mark(const struct pmp_heap *heap, bool *used);

#endif
