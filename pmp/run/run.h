/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run: samples from a source into a sink. It receives, counts, has the worker name and
 * write. It may be suspended or crash; no thread of a target is held by it.
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

/** One profile, of these processes: a source may add one to them. Returns the status of
 * pmp. To be called while single-threaded. */
int run_profile(const struct invocation *call, struct id_list *pids);

#endif
