/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stacks stay when there are more than memory is given for. */
#ifndef PMP_TALLY_EVICT_H
#define PMP_TALLY_EVICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/stack-table.h"

/*
 * Set stays[i] for those entries, of count, that are counted most, as many as take half
 * of the memory of all; of equally many the later ones. recent: before that, how often they
 * are in the past that is kept; NULL: none is. What stands for evicted stacks stays always.
 * 0 or PMP_ENOMEM.
 */
int pmp_evict_choose(const struct pmp_entry *entries, size_t count,
		     const uint64_t *recent, bool *stays);
/* Does it stand for evicted stacks? */
bool pmp_evict_is_sum(const struct pmp_entry *entry);
/* Are there so many of them that processes of one name have to share? */
bool pmp_evict_is_crowded(const struct pmp_entry *entries, size_t count);
/* What an evicted entry is counted in: all of its process are one, or all of processes of
 * that name, which have pid 0 then. */
struct pmp_entry pmp_evict_sum(const struct pmp_entry *entry, bool by_name);
/* The same for what its threads waited for, as the sum of all such; both are filled in. */
void pmp_evict_sum_waits(struct pmp_entry *entry, struct pmp_entry_waits *waits,
			 struct pmp_lock *lock);

#endif
