/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run: samples from a source into a sink. It receives, counts, has the worker name and
 * write. It may be suspended or crash; no thread of a target is held by it.
 */
#ifndef PMP_RUN_RUN_H
#define PMP_RUN_RUN_H

#include "libpmp.h"
#include "options/options.h"
#include "run/loop.h"
#include "run/signals.h"
#include "run/worker.h"
#include "say/progress.h"
#include "sink/atomic-file.h"
#include "sink/sink.h"
#include "source/command.h"
#include "source/processes.h"
#include "source/sampling.h"
#include "source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is known about one target. */
struct process {
	pid_t pid;
	char name[PMP_NOTE_NAME_SIZE];
	uint64_t snapshots, threads; /* of the last one */
	uint64_t first, last;	     /* CLOCK_MONOTONIC of them */
	bool child;		     /* of another one; forgotten when it ends */
	bool told_unstoppable;	     /* that a thread sleeps where nothing can stop it */
};

struct fetcher;
struct session;

struct run {
	struct options options;
	int argc; /* of main() */
	char **argv;
	char *command_line; /* for headers of formats */
	char host[256];	    /* the name of this machine, likewise */
	bool stdout_closed; /* when pmp began */

	const struct source *source;
	const struct sink *sink;
	int wake; /* of signals_open() */
	struct caught caught;
	struct loop *loop;
	struct worker *worker;
	bool heard;	 /* the source, in this turn */
	bool finished;	 /* nothing more comes from it */
	bool told_limit; /* --max-wall */
	int failure;	 /* status of what broke the run, or 0 */
	int refusal;	 /* why there are no samples: a status, or 0 */

	struct pmp_symbolizer *symbolizer;
	struct pmp_profile *profile;
	struct fetcher *fetcher; /* of --debuginfod, or NULL */
	struct pmp_symbolizer *base_symbolizer;
	struct pmp_profile *base;		 /* what it is compared with, or NULL */
	struct pmp_report *report, *base_report; /* of them, NULL until one is written */
	struct progress progress;

	/* Of sources. */
	struct sampling sampling;
	struct command command;
	uint64_t left_alone; /* when the command ended, while children went on; 0: told */
	struct process *processes;
	size_t process_count;
	struct found_processes found; /* by --name */
	uint64_t snapshots;	      /* received */
	uint64_t skipped;	      /* threads not wanted, summed over snapshots */
	uint64_t unseen; /* children that ended before their first snapshot */

	/* Of sinks. */
	struct output *output;
	struct output_wait output_wait; /* what the worker waits for in it */
	uint64_t end_seen;		/* when signals had asked for an end, or 0 */
	struct process named;		/* what it is named after */
	uint64_t next_file;	 /* --every: when the next one begins; 0: not set */
	bool file_failed;	 /* --every: one could not be written, others may */
	struct session *session; /* of the screen, or NULL */
	int keys;		 /* descriptor that it reads keys from, or -1 */
	bool paused, quit;	 /* in it */
};

/** Get ready: descriptors, loop, symbolizer, profile. 0 or a status. */
int run_open(struct run *run);
/** Receive until the source has ended; write. Returns the status of pmp. */
int run_all(struct run *run);
void run_close(struct run *run);

/* ---- for sources and sinks ---- */

/** End the sampling in order. */
void run_finish(struct run *run);
/** The same, because of what pmp will end with this status for. */
void run_fail(struct run *run, int status);
/** Leave the screen. */
void run_quit(struct run *run);
/** Wait for at most that many ms (-1: any number) for signals and the worker alone. */
void run_wait(struct run *run, int timeout);
/**
 * While another job has the terminal that standard output is, stop, as the kernel would have
 * it, but with nothing attached. False: it will not be ours.
 */
bool run_await_terminal(struct run *run);
/**
 * Have the worker do work(arg), and wait for that. Signals and the supervision of the sampler
 * go on; the profile, the symbolizer and the output are the worker's meanwhile, so that no
 * samples are taken and no keys.
 */
void run_work(struct run *run, void (*work)(void *arg), void *arg);

#endif
