/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where samples go: a file that has each snapshot, a file that has the profile, the screen.
 * Each is one const table; whoever has a sink asks its table, and never which one it is.
 */
#ifndef PMP_SINK_SINK_H
#define PMP_SINK_SINK_H

#include "options/options.h"
#include "sink/atomic-file.h"
#include "source/targets.h"

#include <stdbool.h>
#include <stdint.h>

struct counting;
struct counting_needs;
struct job;
struct lock_check;
struct loop;
struct progress;
struct run_state;
struct serving;
struct session;
struct sink;
struct source;
struct worker;

struct sink_type {
	const char *name;
	bool keys; /* who looks at it has keys, which are not to wait */
	bool serves; /* clients, which are not to wait for each other's names: see lookup.h */

	/** Do the options ask for it? */
	bool (*is_meant)(const struct options *options);
	void (*needs)(const struct options *options, struct counting_needs *needs);
	/** Take what it needs of the system, before any process is started or looked at. 0, or
	 * a status with the message printed. To be called while single-threaded. */
	int (*prepare)(struct sink *sink);
	/** Get ready, before there is a profile. 0, or a status with the message printed. */
	int (*open)(struct sink *sink);
	/** The profile is there. */
	void (*start)(struct sink *sink);
	/** A process is sampled from now on, or, NULL, one that was has gone. Of a saved
	 * profile NULL: all is there. */
	void (*targets)(struct sink *sink, const struct process *process);
	/** At this time (ns): is what there is to be completed before more is counted? */
	void (*boundary)(struct sink *sink, uint64_t time);
	/** A sample has been counted. */
	void (*sampled)(struct sink *sink);
	/** Show what there is now: it was asked for by USR1. */
	void (*show)(struct sink *sink);
	/** In each turn of the loop, which then waits for that many ms, at most `most`. */
	void (*tend)(struct sink *sink);
	int (*timeout)(const struct sink *sink, int most);
	/** pmp stops and goes on: the terminal is another's meanwhile. */
	void (*suspend)(struct sink *sink);
	void (*resume)(struct sink *sink);
	/** There are no more samples: does the run go on nevertheless? */
	bool (*stays)(struct sink *sink);
	/** Let go of the terminal, at the end of the loop. */
	void (*leave)(struct sink *sink);
	/** Complete what there is. */
	void (*finish)(struct sink *sink);
	/** Whatever has become of the run; the worker has ended. */
	void (*close)(struct sink *sink);
};

/* What a sink has its run do; the argument is the run. */
struct sink_calls {
	/** End the sampling in order. */
	void (*finish)(void *run);
	/** The same, because of what pmp will end with this status for. */
	void (*fail)(void *run, int status);
	/**
	 * While another job has the terminal that standard output is, stop, as the kernel
	 * would have it, but with nothing attached. False: it will not be ours.
	 */
	bool (*await_terminal)(void *run);
	/**
	 * Have the worker do work(arg), and wait for that. Signals and the supervision of
	 * the sampler go on; the profile, the symbolizer and the output are the worker's
	 * meanwhile, so that no samples are taken and no keys.
	 */
	void (*work)(void *run, void (*work)(void *arg), void *arg);
	/** Wait for what a worker has been given to do, in the same way. */
	void (*await)(void *run, const struct job *job);
};

/* One at work. */
struct sink {
	const struct sink_type *type;
	/* What it is given; borrowed. */
	const struct options *options;
	struct loop *loop;
	struct worker *worker;
	struct worker *namer;	   /* another one, of a sink that serves; or NULL */
	struct counting *counting; /* samples are there */
	struct progress *progress;
	struct source *source;
	struct run_state *state;
	bool stdout_closed; /* when pmp began */
	const struct sink_calls *calls;
	void *run;
	/* What the worker waits for in an output. */
	struct atomic_file_wait wait;
	/* Of files. */
	struct atomic_file *output;
	bool incomplete;      /* what has failed is not in it: it does not get its name */
	struct process named; /* what it is named after */
	uint64_t next_file;   /* --every: when the next one begins; 0: not set */
	struct lock_check *check; /* of --locks=check */
	struct serving *serving;  /* of --serve */
	/* Of the screen. */
	struct session *session;
	int keys; /* descriptor that it reads keys from, or -1 */
	bool quit;
};

extern const struct sink_type sink_text, sink_profile, sink_screen, sink_lock_check,
	sink_server;

/** The one that the options ask for, on a screen if that is possible and wanted. */
const struct sink_type *sink_type_of(const struct options *options, bool screen);
/** What else they ask for: the file that is written while a server serves; or NULL. */
const struct sink_type *sink_type_beside(const struct options *options);

#endif
