/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where samples go: a file that has each snapshot, a file that has the profile, the screen.
 * Each is one const table; whoever has a run asks its table, and never which sink it is.
 */
#ifndef PMP_SINK_SINK_H
#define PMP_SINK_SINK_H

#include "options/options.h"

#include <stdbool.h>
#include <stdint.h>

struct process;
struct run;

/* What a profile must keep for it; see struct pmp_profile_options. */
struct sink_needs {
	bool details, times, snapshots, live;
	bool lines; /* of frames, as well as functions */
};

struct sink {
	const char *name;
	bool keys; /* who looks at it has keys, which are not to wait */

	/** Do the options ask for it? */
	bool (*is_meant)(const struct options *options);
	void (*needs)(const struct options *options, struct sink_needs *needs);
	/** Get ready, before there is a profile. 0, or a status with the message printed. */
	int (*open)(struct run *run);
	/** The profile is there. */
	void (*start)(struct run *run);
	/** A process is sampled from now on, or, NULL, one that was has gone. Of a saved
	 * profile NULL: all is there. */
	void (*targets)(struct run *run, const struct process *process);
	/** At this time (ns): is what there is to be completed before more is counted? */
	void (*boundary)(struct run *run, uint64_t time);
	/** A sample has been counted. */
	void (*sampled)(struct run *run);
	/** Show what there is now: it was asked for by USR1. */
	void (*show)(struct run *run);
	/** In each turn of the loop, which then waits for that many ms, at most `most`. */
	void (*tend)(struct run *run);
	int (*timeout)(const struct run *run, int most);
	/** pmp stops and goes on: the terminal is another's meanwhile. */
	void (*suspend)(struct run *run);
	void (*resume)(struct run *run);
	/** There are no more samples: does the run go on nevertheless? */
	bool (*stays)(struct run *run);
	/** Let go of the terminal, at the end of the loop. */
	void (*leave)(struct run *run);
	/** Complete what there is. */
	void (*finish)(struct run *run);
	/** Whatever has become of the run. */
	void (*close)(struct run *run);
};

extern const struct sink sink_text, sink_profile, sink_screen;

/** The one that the options ask for, on a screen if that is possible and wanted. */
const struct sink *sink_of(const struct options *options, bool screen);

#endif
