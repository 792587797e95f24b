/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the program debuginfod-find for one file. */
#ifndef PMP_FETCH_FIND_H
#define PMP_FETCH_FIND_H

#include "libpmp.h"

#include "confine/program.h"
#include "fetch/cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PMP_FIND_LINE 4096
#define FIND_MAXTIME \
	1800 /* seconds for one file, unless DEBUGINFOD_MAXTIME says otherwise */

struct own_processes;

/* What each run of it needs. */
struct find_plan {
	char program[PATH_MAX];
	char **environment; /* owned, but not its strings */
	struct fetch_cache cache;
	int rules; /* for its files, or -1 */
	struct confine_program limits;
};

struct find {
	pid_t pid;
	struct own_processes *own; /* lists it; or NULL */
	int fd;			   /* its output; non-blocking */
	char line[PMP_FIND_LINE];  /* being read */
	size_t length;
	char path[PMP_FIND_LINE]; /* of the file in its cache, or "" */
	char problem[256];	  /* the reason of a failure, or "" */
	uint64_t done, total;	  /* bytes; total 0: not known */
};

/** Find the program, create its cache. A missing program only makes find_start() fail. 0,
 * or an errno if there is no cache. find_forget() must be called in either case. */
int find_prepare(struct find_plan *plan);
void find_forget(struct find_plan *plan);
/** Start it. 0, or an errno if it cannot be started. own: the
 * list to add it to, or NULL. */
int find_start(struct find *find, const struct find_plan *plan,
	       const struct pmp_wanted_file *wanted, struct own_processes *own);
/** Read its output. False: it has ended, or closed its output. */
bool find_read(struct find *find);
/** Kill it if it still runs, and reap it. */
void find_end(struct find *find);

#endif
