/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the reader of saved profiles and what counts them: pprof-read.c calls, and
 * pprof-into.c counts; or they are in two processes, with pprof-serve.c and pprof-remote.c
 * between them.
 */
#ifndef PMP_TALLY_PPROF_CALLS_H
#define PMP_TALLY_PPROF_CALLS_H

#include "tally/heap.h"
#include "tally/profile.h"
#include "tally/sample-type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PMP_PPROF_MAPPINGS_MAX ((size_t)16 << 10)
#define PMP_PPROF_PROCESSES_MAX ((size_t)16 << 10) /* with a heap of their own */
#define PMP_PPROF_TABLE_MAX ((size_t)4 << 20)	   /* texts, functions, locations */
#define PMP_PPROF_SAMPLES_MAX ((size_t)4 << 20)
#define PMP_PPROF_FRAMES_MAX ((size_t)64 << 10) /* of one stack */
#define PMP_PPROF_LINES_MAX ((size_t)256)	/* of one location */
#define PMP_PPROF_NAMES_MAX \
	((size_t)512 << 20) /* bytes of names, as often as they are used */
#define PMP_PPROF_LABELS_MAX ((size_t)512 << 20) /* likewise */
#define PMP_PPROF_PATH_MAX ((size_t)4096) /* bytes, of a mapping; and of its build-id */

/* What the reader has to know of the profile. */
struct pmp_pprof_want {
	const char *sample_type; /* see struct pmp_profile_options */
	bool heap;		 /* what a recorder has written down is counted */
	bool no_demangle;
	const struct pmp_sample_type
		*counted; /* by what was read before; NULL: nothing was */
};

/* All that a call is given is borrowed. */
struct pmp_pprof_calls {
	/* The number of a mapping, of a location: UINT32_MAX, PMP_LOCATION_NONE: no memory. */
	uint32_t (*mapping)(void *arg, const struct pmp_mapping *mapping);
	pmp_location (*location)(void *arg, const struct pmp_first_address *origin,
				 const struct pmp_frame *frames, size_t count);
	/* A sample; its locations have numbers that location() has given. 0 or PMP_ENOMEM,
	 * as the next two. */
	int (*stack)(void *arg, const struct pmp_entry *entry);
	/* The totals of a process that was recorded. */
	int (*process)(void *arg, const struct pmp_process_heap *process);
	/* How the profile came about: the last call. */
	int (*end)(void *arg, const struct pmp_profile_info *info,
		   const struct pmp_metadata *metadata);
	void *arg;
};

/* Of the name of its file, which stands for each function that has none. */
static inline size_t pmp_pprof_shown_length(const struct pmp_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');

	return strlen(slash && slash[1] ? slash + 1 : mapping->path);
}

/* 0 unless it is one that can be added to others. */
uint64_t pmp_pprof_positive(uint64_t value);

/* Read a file to its end. 0 or a code of libpmp.h; then refusal has an errno (PMP_EIO), or says
 * what is right but not wanted (PMP_EINVAL). */
int pmp_pprof_read(int fd, const struct pmp_pprof_want *want,
		   const struct pmp_pprof_calls *calls, struct pmp_error *refusal);

/* What counts into a profile, whose arg it is. */
struct pmp_pprof_calls pmp_pprof_into(struct pmp_profile *profile);

/* As pmp_pprof_read(), by another process. PMP_ESRCH: it has ended, or makes no sense; refusal says
 * how. */
struct pmp_namer_calls;
int pmp_pprof_read_remote(int fd, const struct pmp_namer_calls *namer,
			  const struct pmp_pprof_want *want,
			  const struct pmp_pprof_calls *calls, struct pmp_error *refusal);

#endif
