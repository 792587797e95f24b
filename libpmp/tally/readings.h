/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which entry the last reading of each thread was counted in. A thread that has not
 * run since is counted there again, and nothing of its stack is looked at.
 */
#ifndef PMP_TALLY_READINGS_H
#define PMP_TALLY_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"

struct pmp_readings;

struct pmp_readings *pmp_readings_new(void);	/* NULL: no memory */
void pmp_readings_free(struct pmp_readings *readings);

/* A sample of a process begins; its threads follow, in their order. 0 or PMP_ENOMEM. */
int pmp_readings_begin(struct pmp_readings *readings, const struct pmp_sample *sample);
/* Is this the stack that was put for the thread before? Then *entry is set. A reading
 * without a number is unlike any other. */
bool pmp_readings_find(struct pmp_readings *readings, const struct pmp_thread *thread,
		       uint32_t *entry);
/* Entry i is new[i] from now on. */
void pmp_readings_renumber(struct pmp_readings *readings, const uint32_t *new);
/* A thread of the sample has been counted in entry. */
void pmp_readings_put(struct pmp_readings *readings, const struct pmp_thread *thread,
		      uint32_t entry);

#endif
