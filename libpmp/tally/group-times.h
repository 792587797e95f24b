/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of each group of threads goes: on a processor, waiting for one, for a
 * lock, for a disk, or asleep. What a thread has used since its last sample was on a
 * processor; the rest is of the state that it is found in. So the sums never go back, if
 * before they are read all entries are named of which names can tell that what looks like
 * sleep is a wait for a lock.
 */
#ifndef PMP_TALLY_GROUP_TIMES_H
#define PMP_TALLY_GROUP_TIMES_H

#include "libpmp-program.h"
#include "tally/history.h"
#include "tally/stack-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_group_sums;

struct pmp_group_sums *pmp_group_sums_new(void); /* NULL: no memory */
void pmp_group_sums_free(struct pmp_group_sums *sums);
/* A sample of a process, of count threads, has been counted in entries. 0 or PMP_ENOMEM. */
int pmp_group_sums_add(struct pmp_group_sums *sums, const struct pmp_entries *entries,
		       pid_t pid, const struct pmp_history_find *finds, size_t count);
/* The same of all that was counted in entries, whose CPU time is divided. 0 or
 * PMP_ENOMEM. */
int pmp_group_sums_add_entries(struct pmp_group_sums *sums,
			       const struct pmp_entries *entries);
/* A process has ended: it has no groups any more. */
void pmp_group_sums_forget(struct pmp_group_sums *sums, pid_t pid);
/* The next entry that names have not been asked about; SIZE_MAX: there is none. */
size_t pmp_group_sums_unnamed(struct pmp_group_sums *sums);
/* What they say of it: does it wait for a lock? */
void pmp_group_sums_name(struct pmp_group_sums *sums, size_t entry, bool locked);
/* Entry i is new[i] from now on, if it stays; those that do are in the order that they were
 * in. */
void pmp_group_sums_renumber(struct pmp_group_sums *sums, const bool *stays,
			     const uint32_t *new);
size_t pmp_group_sums_count(const struct pmp_group_sums *sums);
/* i is below that number. */
const struct pmp_group_times *pmp_group_sums_get(const struct pmp_group_sums *sums,
						 size_t i);

#endif
