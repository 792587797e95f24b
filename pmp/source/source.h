/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where samples come from: processes, a command, saved profiles. Each is one const table;
 * whoever has a source asks its table, and never which one it is.
 */
#ifndef PMP_SOURCE_SOURCE_H
#define PMP_SOURCE_SOURCE_H

#include "options/options.h"
#include "source/targets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct census_reader;
struct command;
struct counting;
struct loop;
struct pmp_recorder;
struct progress;
struct run_state;
struct supervised_sampler;
struct source;

/* Takes a sample with a census, to be freed, or NULL: err says why there is none. Called once,
 * unless the source is closed before. */
typedef void census_done(void *arg, struct pmp_sample *sample,
			 const struct pmp_error *err);

struct source_type {
	const char *name;
	bool saved; /* it was counted before: there is nothing to sample */
	int failed; /* the status if pmp itself fails; 0: that of the failure */

	/** Do the options ask for it? */
	bool (*is_meant)(const struct options *options);
	/** Start what it needs; pids are the processes that the options name. 0, or a status
	 * with the message printed. To be called while single-threaded. */
	int (*open)(struct source *source, struct id_list *pids);
	/** The loop and the profile are there: begin to take what comes, or take it all. 0, or
	 * a status. */
	int (*receive)(struct source *source);
	/** After each turn of the loop. idle: nothing has come. */
	void (*tend)(struct source *source, bool idle);
	/** Pause, or go on. */
	void (*pause)(struct source *source, bool paused);
	/** Paused, has it let go of everything? */
	bool (*is_detached)(const struct source *source);
	/** How far it is; of a source that samples. */
	void (*progress)(const struct source *source, struct sampling_progress *progress);
	/** The next sample now; those after it at this interval (ns). */
	void (*sample_now)(struct source *source);
	void (*set_interval)(struct source *source, uint64_t interval);
	/** Look for other processes that threads wait for, in the next sample. */
	void (*look_for_peers)(struct source *source);
	/** Read what the heap of a process holds, while sampling goes on. One that was begun
	 * before is given up, and done() of that is not called. */
	void (*census)(struct source *source, pid_t pid, census_done *done, void *arg);
	/** End in order: what comes until then is still taken. */
	void (*finish)(struct source *source);
	/** There will be nothing more: give back what it has, once or again. */
	void (*stop)(struct source *source);
	/** Nothing can be taken from it any more: end it, and say so. */
	void (*lose)(struct source *source);
	/** Hold nothing from now on, however that is done: pmp ends without close(). */
	void (*kill)(struct source *source);
	/** A process is there, and has its name. NULL, as the next two: there are none. */
	void (*opened)(struct source *source, struct process *process);
	/** The sink is ready for it. */
	void (*ready)(struct source *source, const struct process *process);
	/** One has ended that is no child of another. */
	void (*ended)(struct source *source, struct process *process, bool threads_only);
	/** What the files of the run are named after: process is one that was opened, or NULL
	 * for any. False: there is none yet. */
	bool (*name_after)(const struct source *source, const struct process *process,
			   struct process *name);
	/** For the head of a screen. */
	void (*describe)(const struct source *source, char *text, size_t size);
	/** Wait for what has to end before pmp; then the status to end with. */
	int (*status)(struct source *source);
	/** Whatever has become of the run. */
	void (*close)(struct source *source);
};

/* What a source reports to its run, and has it do; the argument is the run. */
struct source_calls {
	/** See these of struct sink_type. */
	void (*targets)(void *run, const struct process *process);
	void (*boundary)(void *run, uint64_t time);
	void (*sampled)(void *run);
	/** The run cannot go on: end it in order, with this status. */
	void (*fail)(void *run, int status);
	/** Wait for at most that many ms (-1: any number) for signals and the worker alone. */
	void (*wait)(void *run, int timeout);
	/** Have the worker do work(arg), which reads a file, and wait for that. What asks for
	 * an end meanwhile ends pmp at once. */
	void (*read)(void *run, void (*work)(void *arg), void *arg, const char *path);
	/** Does no other thread do anything? */
	bool (*may_fork)(void *run);
	/** May a sampler be started? Also while a file is fetched: that may take long, and whoever
	 * waits for it has nothing that a sampler needs. */
	bool (*may_sample)(void *run);
};

/* One at work. */
struct source {
	const struct source_type *type;
	/* What it is given; borrowed. */
	const struct options *options;
	struct loop *loop;
	struct counting *counting; /* samples go there; of the first sink */
	struct progress *progress;
	struct run_state *state;
	const struct source_calls *calls;
	void *run;
	/* What others read. */
	struct targets targets;
	/* Its own, where it has one. */
	struct supervised_sampler *sampling;
	struct census_reader *census; /* at work; NULL: none is */
	struct command *command;
	struct pmp_recorder *recorder; /* of --heap */
};

extern const struct source_type source_running, source_started, source_file;

/** The one that the options ask for; there is one (options_check_source()). */
const struct source_type *source_type_of(const struct options *options);

#endif
