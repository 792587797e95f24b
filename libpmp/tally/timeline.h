/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When each thread was found with which stack, for formats that show the course of
 * time. A thread that stays where it is adds nothing: runs of equal stacks are one.
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
	uint64_t first, last; /* times of its samples */
	uint32_t sample;      /* of its process: that of the last one */
	bool absent;	      /* the thread was not in the sample before the first */
};

struct pmp_timeline;

struct pmp_timeline *pmp_timeline_new(void); /* NULL: no memory */
void pmp_timeline_free(struct pmp_timeline *timeline);
/* A sample of a process begins; its time is not before that of the last one. 0 or
 * PMP_ENOMEM. */
int pmp_timeline_begin(struct pmp_timeline *timeline, pid_t pid, uint64_t time);
/* A thread of it was found with a stack. 0 or PMP_ENOMEM. Beyond a limit nothing is kept
 * any more. */
int pmp_timeline_add(struct pmp_timeline *timeline, pid_t tid, uint32_t entry);
/* A thread gets its number: numbers are in the order in which they are asked for. 0 or
 * PMP_ENOMEM. */
int pmp_timeline_know(struct pmp_timeline *timeline, pid_t pid, pid_t tid);
/* A thread was found so in this many samples of its process, of which the last one has the
 * number run->sample, after all that was put for it before. 0 or PMP_ENOMEM. */
int pmp_timeline_put(struct pmp_timeline *timeline, pid_t pid, pid_t tid,
		     const struct pmp_run *run, uint32_t samples);
/* Entry i is new[i] from now on. */
void pmp_timeline_renumber(struct pmp_timeline *timeline, const uint32_t *new);
/* All runs, those of each thread in their order; NULL when there were too many. */
const struct pmp_run *pmp_timeline_runs(const struct pmp_timeline *timeline,
					size_t *count);

#endif
