/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When each thread was found with which stack, for formats that show a timeline. A thread
 * whose stack stays the same adds nothing: consecutive finds of a stack are one run.
 */
#ifndef PMP_TALLY_TIMELINE_H
#define PMP_TALLY_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_run {
	uint32_t entry;	      /* index of the profile's entries */
	uint32_t thread;      /* a number for each thread, 0, 1, ... */
	uint64_t first, last; /* times of its first and last sample */
	uint32_t sample;      /* number of the last one, among those of its process */
	bool absent;	      /* the thread was not in the sample before the first one */
};

struct pmp_timeline;

struct pmp_timeline *pmp_timeline_new(void); /* NULL: out of memory */
void pmp_timeline_free(struct pmp_timeline *timeline);
/* Start a sample of a process, not earlier than its last one. 0 or PMP_ENOMEM. */
int pmp_timeline_begin(struct pmp_timeline *timeline, pid_t pid, uint64_t time);
/* Add a thread of that sample with its entry. 0 or PMP_ENOMEM. Beyond a limit on runs
 * nothing is added any more. */
int pmp_timeline_add(struct pmp_timeline *timeline, pid_t tid, uint32_t entry);
/* Give a thread its number without adding anything. Numbers are given in the order in
 * which threads are first mentioned. 0 or PMP_ENOMEM. */
int pmp_timeline_know(struct pmp_timeline *timeline, pid_t pid, pid_t tid);
/* Add a run of a thread that was found in this many samples of its process, the last of
 * which has the number run->sample. A thread's runs are added in order. 0 or PMP_ENOMEM. */
int pmp_timeline_put(struct pmp_timeline *timeline, pid_t pid, pid_t tid,
		     const struct pmp_run *run, uint32_t samples);
/* Entry i becomes entry new[i]. */
void pmp_timeline_renumber(struct pmp_timeline *timeline, const uint32_t *new);
/* All runs, those of each thread in order; NULL: there were too many. */
const struct pmp_run *pmp_timeline_runs(const struct pmp_timeline *timeline,
					size_t *count);

#endif
