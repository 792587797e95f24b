/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a run that its source and sinks may see: neither sees struct run.
 */
#ifndef PMP_RUN_RUN_STATE_H
#define PMP_RUN_RUN_STATE_H

#include "run/signals.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct own_processes;

enum { RUN_SERVER, RUN_NAMER, RUN_HELPERS };

struct run_state {
	struct caught caught;
	bool keys;   /* the sink takes keys: no key may wait, nothing else write there */
	bool serves; /* the sink serves: names are looked up while all else goes on */
	bool paused; /* by the source or a sink */
	bool heard;  /* the source has sent something in this turn of the loop */
	bool finished; /* nothing more comes from the source */
	/* Children of pmp that are not a command's; 0: none. */
	pid_t helpers[RUN_HELPERS];
	struct own_processes *own; /* those started later; NULL: not tracked */
	uint64_t helpers_cpu;	   /* ns, of processes that read files, fetch and write */
	int failure;		   /* the status of what ended the run, or 0 */
	bool file_failed; /* --every: a file could not be written, others may be */
};

#endif
