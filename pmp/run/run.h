/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run: samples from a source into sinks. It receives and counts; the worker looks up
 * names and writes. It may be suspended or crash, as it never holds a thread of a target.
 */
#ifndef PMP_RUN_RUN_H
#define PMP_RUN_RUN_H

#include "options/options.h"
#include "source/processes.h"

#include <stdbool.h>

/* How pmp was called. */
struct invocation {
	struct options options;
	int argc; /* of main() */
	char **argv;
	char *command_line; /* for headers of formats */
	char host[256];	    /* the name of this machine, likewise */
	bool stdout_closed; /* when pmp began */
	struct found_processes found;
};

/** Profile these processes; the source may add to the list. Returns the exit status of pmp.
 * Must be called while single-threaded. */
int run_profile(const struct invocation *call, struct id_list *pids);

#endif
