/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where results go: a file with each snapshot, a file with the profile, the screen, clients
 * of a server. Each kind is one const table of functions; users of a sink call these and
 * never ask for its kind.
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
	bool keys;   /* it has a user with keys, which must not wait */
	bool serves; /* it has clients, which must not wait for each other: see lookup.h */

	/** Do the options select this sink? */
	bool (*is_meant)(const struct options *options);
	void (*needs)(const struct options *options, struct counting_needs *needs);
	/** Set up what needs the system, before any process is started or read. 0, or a
	 * status with the message printed. Called while single-threaded. */
	int (*prepare)(struct sink *sink);
	/** Get ready, before there is a profile. 0, or a status
	 * with the message printed. */
	int (*open)(struct sink *sink);
	/** The profile exists now. */
	void (*start)(struct sink *sink);
	/** A process is sampled from now on; or NULL: something else about the targets has
	 * changed. NULL for a saved profile: it has been read. */
	void (*targets)(struct sink *sink, const struct process *process);
	/** Called before a sample of this time (ns) is counted: complete the current file
	 * if its interval is over. */
	void (*boundary)(struct sink *sink, uint64_t time);
	/** A sample has been counted. */
	void (*sampled)(struct sink *sink);
	/** Show the results so far, as SIGUSR1 has asked for. */
	void (*show)(struct sink *sink);
	/** tend(): called in each turn of the loop. timeout(): how many ms the loop may
	 * then wait, at most `most`. */
	void (*tend)(struct sink *sink);
	int (*timeout)(const struct sink *sink, int most);
	/** pmp is stopped and continued: meanwhile others use the terminal. */
	void (*suspend)(struct sink *sink);
	void (*resume)(struct sink *sink);
	/** There are no more samples: does the run go on nevertheless? */
	bool (*stays)(struct sink *sink);
	/** Restore the terminal, at the end of the loop. */
	void (*leave)(struct sink *sink);
	/** Complete the output. */
	void (*finish)(struct sink *sink);
	/** Called in any case, also after failures, when the worker has ended. */
	void (*close)(struct sink *sink);
};

/* What a sink calls in its run; the first argument is the run. */
struct sink_calls {
	/** Begin an orderly end of the sampling. */
	void (*finish)(void *run);
	/** The same because of a failure; pmp will exit with this status. */
	void (*fail)(void *run, int status);
	/**
	 * Stop while standard output is a terminal and another job has it, as the kernel
	 * would do, but with nothing attached. False: pmp will not get the terminal.
	 */
	bool (*await_terminal)(void *run);
	/**
	 * Have the worker do work(arg), and wait for it. Signals and the supervision of the
	 * sampler go on. The worker owns the profile, the symbolizer and the output
	 * meanwhile, so neither samples nor keys are processed.
	 */
	void (*work)(void *run, void (*work)(void *arg), void *arg);
	/** Wait in the same way for a job that a worker already has. */
	void (*await)(void *run, const struct job *job);
};

/* A sink of a run. */
struct sink {
	const struct sink_type *type;
	/* Set by the run; borrowed. */
	const struct options *options;
	struct loop *loop;
	struct worker *worker;
	struct worker *namer;	   /* a second worker, for a sink that serves; or NULL */
	struct counting *counting; /* has the samples */
	struct progress *progress;
	struct source *source;
	struct run_state *state;
	bool stdout_closed; /* when pmp began */
	const struct sink_calls *calls;
	void *run;
	/* The output that the worker waits for. */
	struct atomic_file_wait wait;
	/* For files. */
	struct atomic_file *output;
	bool incomplete;	  /* writing failed: the file must not get its name */
	struct process named;	  /* the process that the file is named after */
	uint64_t next_file;	  /* --every: when the next file begins; 0: not set */
	struct lock_check *check; /* for --locks=check */
	struct serving *serving;  /* for --serve */
	/* For the screen. */
	struct session *session;
	int keys; /* descriptor to read keys from, or -1 */
	bool quit;
};

extern const struct sink_type sink_text, sink_profile, sink_screen, sink_lock_check,
	sink_server;

/** The sink that the options select; screen: it may be the screen. */
const struct sink_type *sink_type_of(const struct options *options, bool screen);
/** A second sink: the file that is written while a server serves; or NULL. */
const struct sink_type *sink_type_beside(const struct options *options);

#endif
