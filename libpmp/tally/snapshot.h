/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last sample of each process, thread by thread, for writers of snapshots. */
#ifndef PMP_TALLY_SNAPSHOT_H
#define PMP_TALLY_SNAPSHOT_H

#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "sample.h"
#include "tally/locate.h"
#include "tally/wait-history.h"

#include <stdbool.h>
#include <stddef.h>

struct pmp_row {
	const struct pmp_thread *thread;
	const struct pmp_raw_frame *raw; /* thread->frame_count of them */
	const pmp_location *locations;	 /* the same number */
	const pmp_location *found; /* as they were found, whatever a filter leaves */
	size_t found_count;
	struct pmp_located_object object; /* that thread->wait names, if it does */
	/* What it may be parked under, see pmp_wait_parked_under(): if that can be written. */
	struct pmp_located_object parked;
	/* Inferred, from this snapshot and those before: see tally/wait-history.h. */
	uint64_t waits_since; /* all snapshots since then have found this wait; 0: none */
	pid_t taker;	      /* who has taken the lock, and after which time; or 0 */
	uint64_t taken_after;
};

struct pmp_snapshot {
	uint64_t number; /* 1, 2, ... of all processes */
	struct pmp_sample_info info;
	const struct pmp_row *rows; /* ascending tid */
	size_t row_count;
	/* What threads wait for outside of their memory, and whom; see sample.h. */
	const struct pmp_outside *outsides;
	const struct pmp_other *others;
	size_t hidden;
	bool walk_cut;
	struct pmp_crash crash;		 /* of a core file */
	const struct pmp_census *census; /* of its heap; NULL: there is none */
	const struct pmp_located_object *census_words; /* of each of its rows */
};

/* What pmp_snapshot points to; it outlives the sample. */
struct pmp_kept_snapshot {
	struct pmp_snapshot public;
	bool ended; /* the process has */
	char name[PMP_NAME_SIZE];
	struct pmp_thread *threads;
	struct pmp_raw_frame *frames;
	pmp_location *locations;
	struct pmp_row *rows;
	struct pmp_locator locator;
	size_t thread_capacity, frame_capacity, location_capacity, row_capacity;
	struct pmp_outside *outsides;
	struct pmp_other *others;
	size_t outside_capacity, other_capacity;
	struct pmp_census *census;
	struct pmp_located_object *census_words;
	struct pmp_wait_histories histories;
};

/* Of each process that is sampled one, and the last of all. Zero it. */
struct pmp_snapshots {
	struct pmp_kept_snapshot **all; /* ascending pid */
	size_t count, capacity;
	struct pmp_kept_snapshot *last; /* NULL: there was none */
	uint64_t number;
};

/* Take a sample over, all of which is copied; locations are those of its frames, and the
 * symbolizer locates what its threads wait for. 0 or PMP_ENOMEM. */
int pmp_snapshots_keep(struct pmp_snapshots *snapshots, const struct pmp_sample *sample,
		       const pmp_location *locations, struct pmp_symbolizer *symbolizer);
/* Of a process, or with 0 the last one; NULL: there is none. */
const struct pmp_snapshot *pmp_snapshots_get(const struct pmp_snapshots *snapshots,
					     pid_t pid);
/* A process has ended. If its snapshot is the last one it stays until there is another. */
void pmp_snapshots_forget(struct pmp_snapshots *snapshots, pid_t pid);
/* Set used[] for each location that one of them has. */
void pmp_snapshots_mark(const struct pmp_snapshots *snapshots, bool *used);
/* Free what there is. */
void pmp_snapshots_free(struct pmp_snapshots *snapshots);

/* What its thread waits for outside of its memory; NULL: nothing that is known. */
static inline const struct pmp_outside *
pmp_snapshot_outside(const struct pmp_snapshot *snapshot, const struct pmp_wait *wait)
{
	return wait->outside ? &snapshot->outsides[wait->outside - 1] : NULL;
}

/* Its texts are read as strings: so they end. */
void pmp_thread_terminate(struct pmp_thread *thread);

#endif
