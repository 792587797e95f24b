/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every stack as a path of functions from its root. Equal names are one function, and
 * paths are sorted, so that paths with the same beginning are adjacent. For the formats
 * that sum up by function or draw the tree.
 *
 *     mariadbd;start_thread;do_command;poll  is  4 7 2 5
 *
 * The first step is the process, as in the folded format, followed by a mark if the root
 * is unknown. Inlined functions are functions of their own.
 */
#ifndef PMP_WRITE_PATHS_H
#define PMP_WRITE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "write/names.h"

/* Of functions with the same name in modules with different names. */
extern const char pmp_several_modules[];

struct pmp_function {
	const char *name;     /* one word, as by pmp_name_frame() */
	const char *readable; /* as in struct pmp_frame */
	const char *module;   /* path, not escaped, or pmp_several_modules; "": not a
			     * function */
	const char
		*file; /* where it was first seen; NULL: unknown, or in several modules */
	uint32_t number; /* before sorting */
};

struct pmp_path {
	const uint32_t *functions; /* root first */
	size_t length;
	const struct pmp_entry *entry; /* for its times and what threads did */
	uint64_t count;		       /* how often it was found */
	uint64_t base;		       /* in the base, unscaled */
};

struct pmp_intern;

struct pmp_paths {
	struct pmp_function *functions; /* sorted by name */
	size_t function_count, function_capacity;
	struct pmp_path *paths;
	size_t path_count;
	uint64_t samples; /* of all paths */
	uint64_t base_samples;
	struct pmp_scale scale;		    /* for the base */
	struct pmp_sample_type sample_type; /* type of the counts */

	struct pmp_intern *names;
	uint32_t *pieces; /* functions of all locations, leaf first */
	size_t piece_count, piece_capacity;
	struct pmp_path_slot *slots; /* by location */
	size_t slot_count, slot_capacity;
	uint32_t *steps; /* functions of all paths */
	size_t step_count, step_capacity;
};

/* What precedes the functions. */
enum pmp_root {
	PMP_ROOT_NAMES, /* process; if by_thread, thread */
	PMP_ROOT_IDS,	/* process-PID/TID, as far as needed; thread */
	PMP_ROOT_NONE,	/* if by_thread, thread; a mark only if nothing follows */
};

struct pmp_path_style {
	struct pmp_name_style names;
	enum pmp_root root;
	bool by_thread;
	bool waits; /* add a last step with what threads wait for */
	/* Put the thread's group, as the filter calls it, after the process. */
	bool by_group;
	/* Make a path for each entry, even if it has only CPU time or memory that was
	 * freed again; keep those of the base separate. */
	bool apart;
	const char *process; /* the name of all processes; NULL: their own */
};

/*
 * Fill *paths, which must be freed even on failure. If the report has a base, paths with
 * equal names are merged, with the counts of both; the entry is the report's unless only
 * the base has the path. 0 or PMP_ENOMEM.
 */
int pmp_paths_make(struct pmp_paths *paths, const struct pmp_report *report,
		   const struct pmp_path_style *style);
/* Scale a count of the base. */
double pmp_paths_base(const struct pmp_paths *paths, uint64_t count);
/* The same, rounded, at most INT64_MAX. */
uint64_t pmp_paths_rounded(const struct pmp_paths *paths, uint64_t count);
/* The whole for percentages: all stacks, or the base's if there are no others. */
double pmp_paths_whole(const struct pmp_paths *paths);
/* The style that options ask for, with names of processes and threads. */
struct pmp_path_style pmp_paths_style(const struct pmp_write_options *options);
void pmp_paths_free(struct pmp_paths *paths);

#endif
