/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a view shows: threads, and how often each was seen with each stack. Filled by
 * pmp_profile_add(), read through the pmp_live_*() functions of libpmp-program.h.
 */
#ifndef PMP_TALLY_LIVE_H
#define PMP_TALLY_LIVE_H

#include "libpmp-program.h"
#include "sample.h"
#include "tally/lock-table.h"
#include "tally/snapshot.h"
#include "tally/stack-table.h"

/* NULL: out of memory. */
struct pmp_live *pmp_live_new(void);
void pmp_live_free(struct pmp_live *live);
/*
 * Count a sample, which has been validated. locations: those of sample->frames; the
 * symbolizer locates what its threads wait for. 0 or PMP_ENOMEM.
 */
int pmp_live_add(struct pmp_live *live, const struct pmp_sample *sample,
		 const pmp_location *locations, struct pmp_symbolizer *symbolizer);
/* Lock i, i < pmp_live_lock_count(). */
const struct pmp_lock *pmp_live_get_lock(const struct pmp_live *live, size_t i);
/*
 * What a thread waits for outside of its process; NULL: not known. *snapshot is filled with
 * the processes that this refers to, *wait set to the thread's wait.
 */
const struct pmp_outside *pmp_live_find_outside(const struct pmp_live *live,
						size_t thread,
						struct pmp_snapshot *snapshot,
						const struct pmp_wait **wait);
/* Count an entry of a saved profile; everything is copied. 0 or PMP_ENOMEM. */
int pmp_live_count(struct pmp_live *live, const struct pmp_entry *entry);
/* A process has ended. Its threads are present until the next sample, of any process: when
 * all have ended, the last state stays. */
void pmp_live_forget(struct pmp_live *live, pid_t pid);
/* Memory used by all tables, in bytes. */
uint64_t pmp_live_size(const struct pmp_live *live);
/* Merge the half of the stacks that are seen least into one. Does nothing for a saved
 * profile. 0 or PMP_ENOMEM. */
int pmp_live_shrink(struct pmp_live *live);
/* Set used[] for the locations of all stacks and locks. */
void pmp_live_mark(const struct pmp_live *live, bool *used);
/* Numbers of locations that were not marked may have been reused. */
void pmp_live_renumbered(struct pmp_live *live);
/* Add to the number of snapshots, and the time (ns), that a saved profile covers. */
void pmp_live_join(struct pmp_live *live, uint64_t samples, uint64_t duration,
		   bool partial);

#endif
