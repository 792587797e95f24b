/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the sampler hang? It is checked every 100 ms by the page that it shares. What counts
 * is how many checks have seen the same, not how much time has gone by: a machine that was
 * frozen, or a pmp that was suspended, are not taken for a sampler that hangs. Nor is one
 * that only waits for a processor, unless it holds a thread.
 */
#ifndef PMP_RUN_SUPERVISE_H
#define PMP_RUN_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

#define SUPERVISE_MS 100

/* What was seen by the last check. All zero at first. */
struct supervise {
	uint64_t checked; /* when, ns */
	uint64_t held, beat;
	unsigned held_checks, silent_checks; /* how many have seen the same */
};

/* What is to be seen now; times in ns of CLOCK_MONOTONIC. */
struct sighting {
	uint64_t now;
	uint64_t held;	/* since when threads are held; 0: none is */
	uint64_t beat;	/* the last sign of life */
	bool idle;	/* all that it has sent has been read */
	bool starved;	/* it would run if it had a processor */
	bool finishing; /* it was told to end */
};

enum supervise_verdict {
	SUPERVISE_FINE,
	SUPERVISE_HOLDS,  /* the same thread for a second */
	SUPERVISE_SILENT, /* no sign of life for five, or two when it was told to end */
};

/** Is it time for the next check? */
bool supervise_is_due(const struct supervise *last, uint64_t now);
/** A check: depends on nothing but its arguments. */
enum supervise_verdict supervise_check(struct supervise *last,
				       const struct sighting *seen);
/** A sampler that was killed: is it still there, two seconds later? It hangs in the kernel. */
bool supervise_is_stuck(const struct supervise *last);

#endif
