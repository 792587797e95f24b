/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the sampler hang? Every 100 ms the front checks the page that it shares with the
 * sampler. It counts checks without a change instead of elapsed time: so a frozen machine
 * or a suspended pmp does not look like a sampler that hangs. Nor does a sampler that waits
 * for a processor, unless it holds a thread.
 */
#ifndef PMP_RUN_SUPERVISE_H
#define PMP_RUN_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

#define SUPERVISE_MS 100

/* The result of the last check. All zero at first. */
struct supervise {
	uint64_t checked; /* when, ns */
	uint64_t held, beat;
	unsigned held_checks, silent_checks; /* in a row, without a change */
};

/* What a check observes; times in ns of CLOCK_MONOTONIC. */
struct sighting {
	uint64_t now;
	uint64_t held;	/* since when threads are held; 0: none is */
	uint64_t beat;	/* the last sign of life */
	bool idle;	/* everything it has sent has been read */
	bool starved;	/* it is runnable, but gets no processor */
	bool finishing; /* it was asked to end */
};

enum supervise_verdict {
	SUPERVISE_FINE,
	SUPERVISE_HOLDS,  /* the same thread for a second */
	SUPERVISE_SILENT, /* no sign of life for 5 s, or 2 s once it was asked to end */
};

/** Is it time for the next check? */
bool supervise_is_due(const struct supervise *last, uint64_t now);
/** Make a check; the result depends only on the arguments. */
enum supervise_verdict supervise_check(struct supervise *last,
				       const struct sighting *seen);
/** Does a killed sampler still exist two seconds later? Then it hangs in the kernel. */
bool supervise_is_stuck(const struct supervise *last);

#endif
