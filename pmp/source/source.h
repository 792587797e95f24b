/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where samples come from: processes, a command, files. Each kind is one const table of
 * functions; users of a source call these and never ask for its kind.
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

/* Takes a sample with a census, which it must free, or NULL with the reason in err. Called
 * once, unless the source is closed or another census begun before. */
typedef void census_done(void *arg, struct pmp_sample *sample,
			 const struct pmp_error *err);

struct source_type {
	const char *name;
	bool saved; /* it reads files: there is nothing to sample */
	int failed; /* the status if pmp itself fails; 0: that of the failure */

	/** Do the options select this source? */
	bool (*is_meant)(const struct options *options);
	/** Start what it needs; pids are the processes that the options select. 0, or a
	 * status with the message printed. Called while single-threaded. */
	int (*open)(struct source *source, struct id_list *pids);
	/** Loop and profile exist: begin to receive samples, or read all
	 * of them. 0, or a status. */
	int (*receive)(struct source *source);
	/** Called after each turn of the loop. idle: nothing has come from the source. */
	void (*tend)(struct source *source, bool idle);
	/** Pause, or go on. */
	void (*pause)(struct source *source, bool paused);
	/** While paused: is nothing held any more? */
	bool (*is_detached)(const struct source *source);
	/** Get the progress; only for sources that sample. */
	void (*progress)(const struct source *source, struct sampling_progress *progress);
	/** Take the next sample now; set the interval (ns). */
	void (*sample_now)(struct source *source);
	void (*set_interval)(struct source *source, uint64_t interval);
	/** In the next sample look for other processes that threads wait for. */
	void (*look_for_peers)(struct source *source);
	/** Read what the heap of a process holds, while sampling goes on. A census still
	 * being taken is given up, without a call of its done(). */
	void (*census)(struct source *source, pid_t pid, census_done *done, void *arg);
	/** Begin an orderly end: what is sent until then is still taken. */
	void (*finish)(struct source *source);
	/** Nothing more will be taken: release its resources. May be called repeatedly. */
	void (*stop)(struct source *source);
	/** Nothing can be received any more: end it, and report that. */
	void (*lose)(struct source *source);
	/** Release all threads by any means: pmp ends without close(). */
	void (*kill)(struct source *source);
	/** A process was opened, and has its name. NULL, like the next two, in a source
	 * without processes. */
	void (*opened)(struct source *source, struct process *process);
	/** The sink is ready for this process. */
	void (*ready)(struct source *source, const struct process *process);
	/** A process has ended that is not a child of another target. */
	void (*ended)(struct source *source, struct process *process, bool threads_only);
	/** Get what output files are named after: an opened process, or NULL for any.
	 * False: there is none yet. */
	bool (*name_after)(const struct source *source, const struct process *process,
			   struct process *name);
	/** A description for the header of the screen. */
	void (*describe)(const struct source *source, char *text, size_t size);
	/** Wait for what must end before pmp; returns the exit status. */
	int (*status)(struct source *source);
	/** Called in any case, also after failures. */
	void (*close)(struct source *source);
};

/* What a source calls in its run; the first argument is the run. */
struct source_calls {
	/** For these three see struct sink_type. */
	void (*targets)(void *run, const struct process *process);
	void (*boundary)(void *run, uint64_t time);
	void (*sampled)(void *run);
	/** The run cannot go on: begin an orderly end, with this status. */
	void (*fail)(void *run, int status);
	/** Wait at most timeout ms (-1: no limit) for signals and the worker only. */
	void (*wait)(void *run, int timeout);
	/** Have the worker do work(arg), which reads a file, and wait for it. Meanwhile a
	 * signal that asks pmp to end, or --max-wall, ends it at once. */
	void (*read)(void *run, void (*work)(void *arg), void *arg, const char *path);
	/** Is no other thread active? */
	bool (*may_fork)(void *run);
	/** May a sampler be started? Also while a file is fetched: that may take long, and
	 * the waiting thread holds nothing that a sampler needs. */
	bool (*may_sample)(void *run);
};

/* The source of a run. */
struct source {
	const struct source_type *type;
	/* Set by the run; borrowed. */
	const struct options *options;
	struct loop *loop;
	struct counting *counting; /* of the first sink; takes the samples */
	struct progress *progress;
	struct run_state *state;
	const struct source_calls *calls;
	void *run;
	/* Others may read it. */
	struct targets targets;
	/* Owned; NULL if the type has no such thing. */
	struct supervised_sampler *sampling;
	struct census_reader *census; /* NULL: none is being taken */
	struct command *command;
	struct pmp_recorder *recorder; /* of --heap */
};

extern const struct source_type source_running, source_started, source_file;

/** The source that the options select: options_check_source() has made sure of one. */
const struct source_type *source_type_of(const struct options *options);

#endif
