/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each thread has used between two of its samples: time on a CPU and time
 * altogether. Samples say how much CPU a thread has had so far; what it had since
 * its last sample belongs to the stack it is found with now.
 */
#ifndef PMP_TALLY_USAGE_H
#define PMP_TALLY_USAGE_H

#include <stdint.h>

#include "sample.h"

struct pmp_usage;

struct pmp_usage *pmp_usage_new(void);	/* NULL: no memory */
void pmp_usage_free(struct pmp_usage *usage);

/* A sample of a process begins. 0 or PMP_ENOMEM. */
int pmp_usage_begin(struct pmp_usage *usage, const struct pmp_sample *sample);
/*
 * One thread of that sample. A process's first sample is where measuring begins:
 * both times are 0. *cpu never exceeds *wall. 0 or PMP_ENOMEM.
 */
int pmp_usage_take(struct pmp_usage *usage, const struct pmp_thread *thread,
		   uint64_t *cpu, uint64_t *wall);

#endif
