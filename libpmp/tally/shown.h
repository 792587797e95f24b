/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a filter leaves of a profile: entries, runs and the last sample again, made when
 * they are to be written. Entries that are the same after filtering are one.
 */
#ifndef PMP_TALLY_SHOWN_H
#define PMP_TALLY_SHOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "tally/profile.h"

struct pmp_shown;

/* options.filter must be there; it and the symbolizer are borrowed. NULL: no memory. */
struct pmp_shown *pmp_shown_new(const struct pmp_profile_options *options,
				struct pmp_symbolizer *symbolizer);
void pmp_shown_free(struct pmp_shown *shown);

/* The symbolizer's numbers are others' now, and what it had borrowed out is gone. */
void pmp_shown_forget(struct pmp_shown *shown);

/* Filter these from now on, all of which are copied; runs may be NULL. 0 or PMP_ENOMEM. */
int pmp_shown_entries(struct pmp_shown *shown, const struct pmp_entry *entries, size_t count);
int pmp_shown_runs(struct pmp_shown *shown, const struct pmp_run *runs, size_t count);
/* The round is borrowed until the next one. 0 or PMP_ENOMEM. */
int pmp_shown_round(struct pmp_shown *shown, const struct pmp_round *round);

/* What has come out: entries are those of a profile without a filter, or NULL. */
const struct pmp_profile *pmp_shown_profile(const struct pmp_shown *shown);
const struct pmp_run *pmp_shown_get_runs(const struct pmp_shown *shown, size_t *count);
const struct pmp_round *pmp_shown_get_round(const struct pmp_shown *shown);
/* How many stacks: of the entries if there are any, else of all rounds so far. */
uint64_t pmp_shown_count(const struct pmp_shown *shown);

/* Of a location in them; see tally/sieve.h. */
size_t pmp_shown_frames(const struct pmp_shown *shown, pmp_location location,
			const struct pmp_frame **frames);
void pmp_shown_origin(const struct pmp_shown *shown, pmp_location location,
		      struct pmp_origin *origin);

#endif
