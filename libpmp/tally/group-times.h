/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of each group of threads goes: on a processor, waiting for one, for a
 * lock, for a disk, or asleep. The CPU time that a thread has used since its last sample
 * was spent on a processor; the rest is charged to the state that it is found in. Only
 * names tell whether some entries are asleep or wait for a lock. If these are named before
 * the sums are read, the sums never decrease.
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

struct pmp_group_sums *pmp_group_sums_new(void); /* NULL: out of memory */
void pmp_group_sums_free(struct pmp_group_sums *sums);
/* Add a sample of a process with count threads, which was counted in entries. 0 or
 * PMP_ENOMEM. */
int pmp_group_sums_add(struct pmp_group_sums *sums, const struct pmp_entries *entries,
		       pid_t pid, const struct pmp_history_find *finds, size_t count);
/* Add everything that was counted in entries, whose CPU time has been divided. 0 or
 * PMP_ENOMEM. */
int pmp_group_sums_add_entries(struct pmp_group_sums *sums,
			       const struct pmp_entries *entries);
/* A process has ended: drop its groups. */
void pmp_group_sums_forget(struct pmp_group_sums *sums, pid_t pid);
/* The next entry whose names may show a wait for a lock and were not looked at; SIZE_MAX:
 * none. */
size_t pmp_group_sums_unnamed(struct pmp_group_sums *sums);
/* locked: the names of this entry show that it waits for a lock. */
void pmp_group_sums_name(struct pmp_group_sums *sums, size_t entry, bool locked);
/* Entry i becomes entry new[i] if stays[i], else it is gone. The order does not change. */
void pmp_group_sums_renumber(struct pmp_group_sums *sums, const bool *stays,
			     const uint32_t *new);
size_t pmp_group_sums_count(const struct pmp_group_sums *sums);
/* i < pmp_group_sums_count(). */
const struct pmp_group_times *pmp_group_sums_get(const struct pmp_group_sums *sums,
						 size_t i);

#endif
