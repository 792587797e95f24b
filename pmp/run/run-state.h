/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a run stands, for its source and its sink to see: neither sees the run. What each
 * member means to whom is said there.
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
	bool keys;   /* of the sink: they are not to wait, and nothing writes across it */
	bool serves; /* likewise: names are looked up while all else goes on */
	bool paused; /* by one of them */
	bool heard;  /* the source, in this turn of the loop */
	bool finished; /* nothing more comes from it */
	/* Children of ours that are none of a command's; 0: there is none. */
	pid_t helpers[RUN_HELPERS];
	struct own_processes *own; /* that are started later; NULL: none are */
	uint64_t helpers_cpu;	   /* ns: of those that read files, fetch and write */
	int failure;		   /* status of what broke the run, or 0 */
	bool file_failed;	   /* --every: one could not be written, others may */
};

#endif
