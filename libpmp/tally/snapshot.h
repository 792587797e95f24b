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
	const pmp_location *found;	 /* the locations before any filter */
	size_t found_count;
	struct pmp_located_object object; /* that thread->wait refers to, if any */
	/* What it may be parked under, if writable, see pmp_wait_parked_under(). */
	struct pmp_located_object parked;
	/* Inferred from this snapshot and earlier ones, see tally/wait-history.h. */
	uint64_t waits_since; /* all snapshots since then have found this wait; 0: none */
	pid_t taker;	      /* the thread that has taken the lock, or 0 */
	uint64_t taken_after; /* time of the snapshot in which the taker still waited */
};

struct pmp_snapshot {
	uint64_t number; /* 1, 2, ... of all processes */
	struct pmp_sample_info info;
	const struct pmp_row *rows; /* ascending tid */
	size_t row_count;
	/* What threads wait for outside of memory, and which processes; see sample.h. */
	const struct pmp_outside *outsides;
	const struct pmp_other *others;
	size_t hidden;
	bool walk_cut;
	struct pmp_crash crash;		 /* of a core file */
	const struct pmp_census *census; /* of its heap; NULL: there is none */
	const struct pmp_located_object *census_words; /* one for each of its rows */
};

/* What pmp_snapshot points to; it outlives the sample. */
struct pmp_kept_snapshot {
	struct pmp_snapshot public;
	bool ended; /* the process has ended */
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

/* One snapshot for each process that is sampled. Zero it. */
struct pmp_snapshots {
	struct pmp_kept_snapshot **all; /* ascending pid */
	size_t count, capacity;
	struct pmp_kept_snapshot *last; /* the newest one; NULL: there is none */
	uint64_t number;
};

/* Keep a sample; everything is copied. locations: those of its frames; the symbolizer
 * locates what its threads wait for. 0 or PMP_ENOMEM. */
int pmp_snapshots_keep(struct pmp_snapshots *snapshots, const struct pmp_sample *sample,
		       const pmp_location *locations, struct pmp_symbolizer *symbolizer);
/* The snapshot of a process; pid 0: the newest one. NULL: there is none. */
const struct pmp_snapshot *pmp_snapshots_get(const struct pmp_snapshots *snapshots,
					     pid_t pid);
/* A process has ended. If its snapshot is the newest one, it stays until the next one. */
void pmp_snapshots_forget(struct pmp_snapshots *snapshots, pid_t pid);
/* Set used[] for each location in a snapshot. */
void pmp_snapshots_mark(const struct pmp_snapshots *snapshots, bool *used);
/* Free all snapshots. */
void pmp_snapshots_free(struct pmp_snapshots *snapshots);

/* What a wait of this snapshot is for, outside of memory; NULL: nothing known. */
static inline const struct pmp_outside *
pmp_snapshot_outside(const struct pmp_snapshot *snapshot, const struct pmp_wait *wait)
{
	return wait->outside ? &snapshot->outsides[wait->outside - 1] : NULL;
}

/* Make sure that the thread's texts end with a NUL, so that they can be read as strings. */
void pmp_thread_terminate(struct pmp_thread *thread);

#endif
