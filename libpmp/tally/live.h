/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a view shows: threads, and how often each was seen with each stack. Fed by
 * pmp_profile_add(); read through the accessors of libpmp.h.
 */
#ifndef PMP_TALLY_LIVE_H
#define PMP_TALLY_LIVE_H

#include "libpmp-program.h"
#include "sample.h"
#include "tally/lock-table.h"
#include "tally/snapshot.h"
#include "tally/stack-table.h"

/* NULL: no memory. */
struct pmp_live *pmp_live_new(void);
void pmp_live_free(struct pmp_live *live);
/*
 * Count a sample, which has been checked; locations are those of sample->frames, and the
 * symbolizer locates what its threads wait for. 0 or PMP_ENOMEM.
 */
int pmp_live_add(struct pmp_live *live, const struct pmp_sample *sample,
		 const pmp_location *locations, struct pmp_symbolizer *symbolizer);
/* A lock, i below their number. */
const struct pmp_lock *pmp_live_get_lock(const struct pmp_live *live, size_t i);
/*
 * What a thread waits for outside of its process, and in *snapshot the processes that this
 * refers to, as in a snapshot; NULL: nothing is known. wait: of the thread.
 */
const struct pmp_outside *pmp_live_find_outside(const struct pmp_live *live,
						size_t thread,
						struct pmp_snapshot *snapshot,
						const struct pmp_wait **wait);
/* Count an entry of a saved profile, all of which is copied. 0 or PMP_ENOMEM. */
int pmp_live_count(struct pmp_live *live, const struct pmp_entry *entry);
/* A process has ended. */
void pmp_live_forget(struct pmp_live *live, pid_t pid);
/* The bytes that all tables take. */
uint64_t pmp_live_size(const struct pmp_live *live);
/* Count the lesser half of the stacks as one; not those of a saved profile. 0 or
 * PMP_ENOMEM. */
int pmp_live_shrink(struct pmp_live *live);
/* Set used[] of the locations of all its stacks. */
void pmp_live_mark(const struct pmp_live *live, bool *used);
/* Numbers of locations that were not marked may mean others now. */
void pmp_live_renumbered(struct pmp_live *live);
/* So many snapshots in that time (ns) is what was counted. */
void pmp_live_join(struct pmp_live *live, uint64_t samples, uint64_t duration);

#endif
