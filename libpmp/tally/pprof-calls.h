/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between the reader of saved profiles, pprof-read.c, and what counts them,
 * pprof-into.c. If they are in two processes, pprof-serve.c and pprof-remote.c pass the
 * calls on.
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
#define PMP_PPROF_PROCESSES_MAX ((size_t)16 << 10) /* with heap totals */
#define PMP_PPROF_TABLE_MAX ((size_t)4 << 20)	   /* texts, functions, locations */
#define PMP_PPROF_SAMPLES_MAX ((size_t)4 << 20)
#define PMP_PPROF_FRAMES_MAX ((size_t)64 << 10) /* of one stack */
#define PMP_PPROF_LINES_MAX ((size_t)256)	/* of one location */
#define PMP_PPROF_NAMES_MAX \
	((size_t)512 << 20) /* bytes of names, counted each time they are used */
#define PMP_PPROF_LABELS_MAX ((size_t)512 << 20) /* likewise */
#define PMP_PPROF_PATH_MAX ((size_t)4096) /* bytes of a mapping's path, or build-id */

/* What the reader has to know about the profile that it reads for. */
struct pmp_pprof_want {
	const char *sample_type; /* see struct pmp_profile_options */
	bool heap;		 /* heaps are counted */
	const struct pmp_sample_type
		*counted; /* what earlier files count; NULL: this is the first */
};

/* Everything passed to a call is borrowed. */
struct pmp_pprof_calls {
	/* Return the number of a mapping, of a location. UINT32_MAX, PMP_LOCATION_NONE: it
	 * failed, mostly for want of memory. */
	uint32_t (*mapping)(void *arg, const struct pmp_mapping *mapping);
	pmp_location (*location)(void *arg, const struct pmp_first_address *origin,
				 const struct pmp_frame *frames, size_t count);
	/* A sample; its locations are numbers that location() returned. 0 or a code of
	 * libpmp.h, like the next two. */
	int (*stack)(void *arg, const struct pmp_entry *entry);
	/* The totals of a process that was recorded. */
	int (*process)(void *arg, const struct pmp_process_heap *process);
	/* How the profile came about. This is the last call. */
	int (*end)(void *arg, const struct pmp_profile_info *info,
		   const struct pmp_metadata *metadata);
	void *arg;
};

/* The length of a mapping's file name, which stands for each function without a name. */
static inline size_t pmp_pprof_shown_length(const struct pmp_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');

	return strlen(slash && slash[1] ? slash + 1 : mapping->path);
}

/* Returns value, or 0 if it is too large to be added to others. */
uint64_t pmp_pprof_positive(uint64_t value);

/* Read a file to its end. 0 or a code of libpmp.h; then refusal has the errno (PMP_EIO), or
 * says why a valid file is refused (PMP_EINVAL, PMP_ELIMIT). */
int pmp_pprof_read(int fd, const struct pmp_pprof_want *want,
		   const struct pmp_pprof_calls *calls, struct pmp_error *refusal);

/* The calls that count into a profile, which is their arg. */
struct pmp_pprof_calls pmp_pprof_into(struct pmp_profile *profile);

/* Like pmp_pprof_read(), but read by another process. PMP_ESRCH: that process has ended or
 * sent something invalid; refusal says which. */
struct pmp_namer_calls;
int pmp_pprof_read_remote(int fd, const struct pmp_namer_calls *namer,
			  const struct pmp_pprof_want *want,
			  const struct pmp_pprof_calls *calls, struct pmp_error *refusal);

#endif
