/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time of threads, and which stacks to charge it to. A sample has the CPU time that
 * each thread has used so far. What a thread used between two samples cannot be charged to
 * the stack in the second one: by then most threads are asleep. So the CPU time of a thread
 * is divided among the stacks that it was found running with, in proportion to how often:
 *
 *	cpu(stack) = cpu(thread) * running finds(stack) / running finds(thread)
 *
 * A thread that has just woken up in a system call and is waiting for a processor has not
 * used any CPU time there: such a find has next to no weight unless there are no others.
 *
 * The CPU time of a thread that was never found running goes to an entry without a stack,
 * PMP_END_BETWEEN. If entries do not keep threads apart, read "process" for "thread" above.
 * Wall-clock time since the process's last sample is charged to the thread's current stack.
 */
#ifndef PMP_TALLY_CPU_TIME_H
#define PMP_TALLY_CPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"
#include "tally/stack-table.h"

#define PMP_ON_PROCESSOR \
	1000 /* weight of a find on a processor; of a thread that waits for one: 1 */

struct pmp_cpu_time;

/* by_thread: entries keep threads apart. NULL: out of memory. */
struct pmp_cpu_time *pmp_cpu_time_new(bool by_thread);
void pmp_cpu_time_free(struct pmp_cpu_time *times);

/* Start a sample of a process. 0 or PMP_ENOMEM. */
int pmp_cpu_time_begin(struct pmp_cpu_time *times, struct pmp_entries *entries,
		       const struct pmp_sample *sample);
/*
 * Take one thread of that sample. *wall: the time since the process's last sample; *cpu:
 * the CPU time that the thread has used since it was last sampled, which is to be divided.
 * Both are 0 in a process's first sample, where measuring starts. 0 or PMP_ENOMEM.
 */
int pmp_cpu_time_take(struct pmp_cpu_time *times, const struct pmp_thread *thread,
		      uint64_t *wall, uint64_t *cpu);
/*
 * A short cut, instead of _begin() and a _take() per thread, for a sample with the same
 * threads as the process's last one, none of which has run since. *wall: the time since
 * then. False: take the threads one by one, as there is CPU time to account for.
 */
bool pmp_cpu_time_pass(struct pmp_cpu_time *times, const struct pmp_sample *sample,
		       uint64_t *wall);
/* The time of the sample of the same process before the last one given to _begin() or
 * _pass(); 0: there was none. */
uint64_t pmp_cpu_time_before(const struct pmp_cpu_time *times);
/* What finding this thread adds to pmp_entry.running. */
uint64_t pmp_cpu_time_weight(const struct pmp_thread *thread);
/* The thread taken last has been counted in this entry. */
void pmp_cpu_time_found(struct pmp_cpu_time *times, uint32_t entry);

/* Without a sample: add CPU time, to be divided, for the thread that is counted in this
 * entry. 0 or PMP_ENOMEM. */
int pmp_cpu_time_give(struct pmp_cpu_time *times, const struct pmp_entries *entries,
		      uint32_t entry, uint64_t cpu);

/* Set cpu of all entries to their shares so far; later finds divide all of the time
 * again. 0 or PMP_ENOMEM. */
int pmp_cpu_time_divide(const struct pmp_cpu_time *times, struct pmp_entries *entries);
/* The same, but final, so that entries can be merged afterwards; forgets threads that have
 * ended. 0 or PMP_ENOMEM; no time is lost then. */
int pmp_cpu_time_settle(struct pmp_cpu_time *times, struct pmp_entries *entries);
/* Entry i becomes entry new[i]. */
void pmp_cpu_time_renumber(struct pmp_cpu_time *times, const uint32_t *new);
/* A process has ended; its pid may be reused. */
void pmp_cpu_time_forget(struct pmp_cpu_time *times, pid_t pid);
/* Memory used, in bytes. */
uint64_t pmp_cpu_time_size(const struct pmp_cpu_time *times);

#endif
