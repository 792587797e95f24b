/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of threads, and which stacks it belongs to. Samples say how much CPU time a thread
 * has had so far. What it had between two samples was not used by the stack that is found
 * in the second one: most threads are asleep by then. So the CPU time of a thread is
 * divided among the stacks it was found running with, by how often it was found so:
 *
 *	cpu(stack) = cpu(thread) * running finds(stack) / running finds(thread)
 *
 * A thread that has just woken up in a system call and only waits for a processor has not
 * used any: such a find counts next to nothing beside others, but is better than none.
 *
 * That of a thread which was never found running goes to an entry without a stack,
 * PMP_END_BETWEEN. Where entries do not keep threads apart, process stands for thread.
 * Wall-clock time since the process's last sample is that of the stack it has now.
 */
#ifndef PMP_TALLY_CPU_TIME_H
#define PMP_TALLY_CPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"
#include "tally/stack-table.h"

#define PMP_ON_PROCESSOR \
	1000 /* one running find, in finds of threads that wait for one */

struct pmp_cpu_time;

/* by_thread: entries keep threads apart. NULL: no memory. */
struct pmp_cpu_time *pmp_cpu_time_new(bool by_thread);
void pmp_cpu_time_free(struct pmp_cpu_time *times);

/* A sample of a process starts. 0 or PMP_ENOMEM. */
int pmp_cpu_time_begin(struct pmp_cpu_time *times, struct pmp_entries *entries,
		       const struct pmp_sample *sample);
/*
 * One thread of that sample: *wall is the time since the process's last one, *cpu what it
 * has used since it was in one, to be divided. A process's first sample is where measuring
 * starts: all times are 0. 0 or PMP_ENOMEM.
 */
int pmp_cpu_time_take(struct pmp_cpu_time *times, const struct pmp_thread *thread,
		      uint64_t *wall, uint64_t *cpu);
/*
 * A sample that has the threads of the process's last one, none of which has run since:
 * instead of the two calls for each of them. *wall is the time since then. False: they have
 * to be taken one by one, as there is CPU time to account for.
 */
bool pmp_cpu_time_pass(struct pmp_cpu_time *times, const struct pmp_sample *sample,
		       uint64_t *wall);
/* The time of that process's sample before the one that either of these was called with
 * last; 0: there was none. */
uint64_t pmp_cpu_time_before(const struct pmp_cpu_time *times);
/* What it adds to pmp_entry.running to have found a thread like this. */
uint64_t pmp_cpu_time_weight(const struct pmp_thread *thread);
/* The thread that was taken last has been counted in this entry. */
void pmp_cpu_time_found(struct pmp_cpu_time *times, uint32_t entry);

/* The same without a sample: the thread that is counted in this entry has used so much, to
 * be divided. 0 or PMP_ENOMEM. */
int pmp_cpu_time_give(struct pmp_cpu_time *times, const struct pmp_entries *entries,
		      uint32_t entry, uint64_t cpu);

/* Set cpu of all entries to what they have by now; what is found later divides all of
 * the time again. 0 or PMP_ENOMEM. */
int pmp_cpu_time_divide(const struct pmp_cpu_time *times, struct pmp_entries *entries);
/* The same for good, so that entries may be put together afterwards; threads that have
 * ended are forgotten. On failure no time is lost. */
int pmp_cpu_time_settle(struct pmp_cpu_time *times, struct pmp_entries *entries);
/* Entry i is new[i] from now on. */
void pmp_cpu_time_renumber(struct pmp_cpu_time *times, const uint32_t *new);
/* A process has ended; its id may be given to another one. */
void pmp_cpu_time_forget(struct pmp_cpu_time *times, pid_t pid);
/* The bytes that it takes. */
uint64_t pmp_cpu_time_size(const struct pmp_cpu_time *times);

#endif
