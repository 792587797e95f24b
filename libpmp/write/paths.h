/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every stack as a path of functions from its root: equal names are one function,
 * and the paths are sorted, so that those with the same beginning lie together.
 * For the formats that add up by function or draw the tree.
 *
 *     mariadbd;start_thread;do_command;poll  is  4 7 2 5
 *
 * The first is the process, as in the folded format; so is the mark of an unknown
 * root. Inlined functions are functions of their own.
 */
#ifndef PMP_WRITE_PATHS_H
#define PMP_WRITE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"
#include "write/names.h"

struct pmp_function {
	const char *name;   /* one word, as pmp_name_frame() has it */
	const char *module; /* path, raw; "" of what is no function */
	const char *file;   /* where it was seen first; NULL: unknown */
	uint32_t number;    /* before they were sorted */
};

struct pmp_path {
	const uint32_t *functions; /* root first */
	size_t length;
	const struct pmp_entry *entry; /* its times, and what threads did */
	uint64_t count;		       /* how often it was seen */
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
	struct pmp_scale scale;		    /* of the base */
	struct pmp_sample_type sample_type; /* what is counted */

	struct pmp_intern *names;
	uint32_t *pieces; /* of all locations, leaf first */
	size_t piece_count, piece_capacity;
	struct pmp_path_slot *slots; /* by location */
	size_t slot_count, slot_capacity;
	uint32_t *steps; /* of all paths */
	size_t step_count, step_capacity;
};

/* What stands before the functions. */
enum pmp_root {
	PMP_ROOT_NAMES, /* process, and by thread the thread */
	PMP_ROOT_IDS,	/* process-PID/TID, as far as that is needed; thread */
	PMP_ROOT_NONE,	/* by thread the thread; a mark only if nothing follows */
};

struct pmp_path_style {
	struct pmp_name_style names;
	enum pmp_root root;
	bool by_thread;
	bool waits; /* a last step that says what threads wait for */
	/* After the process the group of the thread, as the report's filter calls it. */
	bool by_group;
	/* A path for each entry, those that are CPU time only or have freed all that they
	 * allocated included, and those of the base beside them. */
	bool apart;
	const char *process; /* what every process is called; NULL: its name */
};

/*
 * Fill *paths, which is to be freed also after a failure. If the report has a base, paths
 * of equal names are one, with the counts of both; an entry is the report's unless only
 * the base has such a path. 0 or PMP_ENOMEM.
 */
int pmp_paths_make(struct pmp_paths *paths, const struct pmp_report *report,
		   const struct pmp_path_style *style);
/* A scaled count of the base. */
double pmp_paths_base(const struct pmp_paths *paths, uint64_t count);
/* The same as a whole number, INT64_MAX at most. */
uint64_t pmp_paths_rounded(const struct pmp_paths *paths, uint64_t count);
/* What differences are parts of: all stacks, of the base if there are no others. */
double pmp_paths_whole(const struct pmp_paths *paths);
/* The style that options ask for, with the names of processes and threads. */
struct pmp_path_style pmp_paths_style(const struct pmp_write_options *options);
void pmp_paths_free(struct pmp_paths *paths);

#endif
