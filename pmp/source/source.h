/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where samples come from: processes, a command, saved profiles. Each is one const table;
 * whoever has a run asks its table, and never which source it is.
 */
#ifndef PMP_SOURCE_SOURCE_H
#define PMP_SOURCE_SOURCE_H

#include "options/options.h"

#include <stdbool.h>
#include <stddef.h>

struct process;
struct run;

struct source {
	const char *name;
	bool saved; /* it was counted before: there is nothing to sample */
	int failed; /* the status if pmp itself fails; 0: that of the failure */

	/** Do the options ask for it? */
	bool (*is_meant)(const struct options *options);
	/** Start what it needs; pids are the processes that the options name. 0, or a status
	 * with the message printed. To be called while single-threaded. */
	int (*open)(struct run *run, struct id_list *pids);
	/** The loop and the profile are there: begin to take what comes, or take it all. 0, or
	 * a status. */
	int (*receive)(struct run *run);
	/** After each turn of the loop. idle: nothing has come. */
	void (*tend)(struct run *run, bool idle);
	/** Pause, or go on. */
	void (*pause)(struct run *run, bool paused);
	/** Paused, has it let go of everything? */
	bool (*is_detached)(const struct run *run);
	/** The next sample now; those after it at this interval (ns). */
	void (*sample_now)(struct run *run);
	void (*set_interval)(struct run *run, uint64_t interval);
	/** End in order: what comes until then is still taken. */
	void (*finish)(struct run *run);
	/** There will be nothing more: give back what it has, once or again. */
	void (*stop)(struct run *run);
	/** A process is there, and has its name. NULL, as the next two: there are none. */
	void (*opened)(struct run *run, struct process *process);
	/** The sink is ready for it. */
	void (*ready)(struct run *run, const struct process *process);
	/** One has ended that is no child of another. */
	void (*ended)(struct run *run, struct process *process, bool threads_only);
	/** What the files of the run are named after: process is one that was opened, or NULL
	 * for any. False: there is none yet. */
	bool (*name_after)(const struct run *run, const struct process *process,
			   struct process *name);
	/** For the head of a screen. */
	void (*describe)(const struct run *run, char *text, size_t size);
	/** Wait for what has to end before pmp; then the status to end with. */
	int (*status)(struct run *run);
	/** Whatever has become of the run. */
	void (*close)(struct run *run);
};

extern const struct source source_processes, source_command, source_files;

/** The one that the options ask for; there is one (options_check_source()). */
const struct source *source_of(const struct options *options);

#endif
