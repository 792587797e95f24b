/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stacks to keep when they exceed the memory limit. */
#ifndef PMP_TALLY_EVICT_H
#define PMP_TALLY_EVICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/stack-table.h"

/*
 * Set stays[i] for the entries with the highest counts, as many as fit into half of the
 * memory that all of them take; with equal counts the later ones stay. recent: how often
 * each entry occurs in the history, which matters more than its count; NULL: there is no
 * history. Entries that stand for evicted stacks always stay. 0 or PMP_ENOMEM.
 */
int pmp_evict_choose(const struct pmp_entry *entries, size_t count,
		     const uint64_t *recent, bool *stays);
/* Does this entry stand for evicted stacks? */
bool pmp_evict_is_sum(const struct pmp_entry *entry);
/* Are there so many such entries that processes of the same name have to share one? */
bool pmp_evict_is_crowded(const struct pmp_entry *entries, size_t count);
/* The entry that an evicted one is counted in: one per process or, by_name, one (with
 * pid 0) for all processes of that name. */
struct pmp_entry pmp_evict_sum(const struct pmp_entry *entry, bool by_name);
/* Point entry->waits to *waits, a copy of what it pointed to. If there is a lock, replace
 * it by *lock, which stands for all locks of its kind. */
void pmp_evict_sum_waits(struct pmp_entry *entry, struct pmp_entry_waits *waits,
			 struct pmp_lock *lock);

#endif
