/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting: samples come in, distinct stacks with their counts go out. A stack
 * is a list of locations; one that is seen again costs one addition. Names are
 * asked for when a writer wants them.
 */
#ifndef PMP_TALLY_PROFILE_H
#define PMP_TALLY_PROFILE_H

#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "sample.h"

#include <stddef.h>
#include <stdint.h>

/* A distinct (process, its name, stack, end, why; with by_thread also thread and
 * its name). */
struct pmp_entry {
	pid_t pid;
	const char *process;	/* name, raw bytes */
	pid_t tid;		/* 0 unless by_thread */
	const char *thread;	/* name, raw bytes; "" unless by_thread */
	char state;		/* of the most recent sample */
	enum pmp_end end;
	const char *why;	/* "" or why it was not stopped */
	const pmp_location *locations;	/* innermost first */
	size_t location_count;
	uint64_t count;
};

size_t pmp_profile_entry_count(const struct pmp_profile *profile);
/* Borrowed until the next pmp_profile_add(). */
const struct pmp_entry *pmp_profile_entry(const struct pmp_profile *profile, size_t i);

/* The last sample, thread by thread (options.keep_rounds): for snapshot writers. */
struct pmp_row {
	const struct pmp_thread *thread;
	const struct pmp_raw_frame *raw;	/* thread->frame_count of them */
	const pmp_location *locations;		/* the same number */
};
struct pmp_round {
	uint64_t number;		/* 1, 2, ... */
	struct pmp_sample_info info;
	const struct pmp_row *rows;	/* ascending tid */
	size_t row_count;
};
/* NULL without keep_rounds and before the first sample; borrowed until the next
 * pmp_profile_add(). */
const struct pmp_round *pmp_profile_round(const struct pmp_profile *profile);

/* See pmp_symbolizer_frames(). */
size_t pmp_profile_frames(struct pmp_profile *profile, pmp_location location,
			  const struct pmp_frame **frames);
const struct pmp_profile_options *pmp_profile_options(const struct pmp_profile *profile);

#endif
