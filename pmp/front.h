/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front: receives samples, counts, names, writes. It may block on its output,
 * be suspended or crash; no thread of a target is held by it.
 */
#ifndef PMP_PMP_FRONT_H
#define PMP_PMP_FRONT_H

#include "command.h"
#include "libpmp.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "sampler.h"
#include "signals.h"
#include "view/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the front knows about one target. */
struct pmp_process {
	pid_t pid;
	char name[PMP_NOTE_NAME_SIZE];
	uint64_t snapshots, threads; /* of the last one */
	uint64_t first, last; /* CLOCK_MONOTONIC of them */
	bool child;	       /* of another one; forgotten when it ends */
	bool told_unstoppable; /* that a thread sleeps where nothing can stop it */
};

struct pmp_fetcher;

struct pmp_app {
	struct pmp_options options;
	int argc; /* of main() */
	char **argv;
	char *command_line; /* for headers of formats */
	char host[256];	    /* the name of this machine, likewise */
	bool stdout_closed; /* when pmp began */
	int wake;	    /* of pmp_signals_open() */
	struct pmp_caught caught;
	struct pmp_command command;
	struct pmp_sampler sampler;
	struct pmp_receiver *receiver;
	struct pmp_symbolizer *symbolizer;
	struct pmp_profile *profile;
	struct pmp_fetcher *fetcher; /* of --debuginfod, or NULL */
	struct pmp_symbolizer *base_symbolizer;
	struct pmp_profile *base; /* what it is compared with, or NULL */
	struct pmp_output *output;
	struct pmp_session *session; /* the live view, or NULL */
	bool paused, quit;	     /* in it */
	struct pmp_process *processes;
	size_t process_count;
	struct pmp_process named; /* the one that the output is named after */
	uint64_t next_file;	  /* --every: when the next file begins; 0: not set */
	bool file_failed;	  /* --every: one could not be written, others may */
	bool told_limit;	  /* --max-wall */
	uint64_t left_alone; /* when the command ended, while children went on; 0: told */
	uint64_t snapshots; /* received */
	uint64_t skipped;   /* threads not wanted, summed over snapshots */
	uint64_t unseen;    /* children that ended before their first snapshot */
	struct pmp_progress progress;
	struct pmp_note_done done;
	bool finished;			   /* the sampler has sent its last note */
	bool finishing;			   /* it was told to */
	const char *lost;		   /* why it was killed, or NULL */
	char where[64];			   /* it was asleep in the kernel then, or "" */
	uint64_t looked;		   /* time of the last look at it */
	uint64_t held_seen, beat_seen;	   /* what the page said then */
	uint64_t cpu_seen;		   /* what of a processor it had had */
	unsigned held_looks, silent_looks; /* how often it has said the same */
	int failure;			   /* status of what broke the run, or 0 */
	int refusal;			   /* why there are no samples: a status, or 0 */
};

/** Get ready: descriptors, receiver, symbolizer, profile. 0 or a status. */
int pmp_front_open(struct pmp_app *app);
/** Receive until the sampler has ended; write. Returns the status of pmp. */
int pmp_front_run(struct pmp_app *app);
void pmp_front_close(struct pmp_app *app);

/* ---- for its parts: results.c, notes.c, host.c ---- */

/** End the sampling in order. */
void pmp_front_finish(struct pmp_app *app);
/** The same, because of what pmp will end with this status for. */
void pmp_front_fail(struct pmp_app *app, int status);
/** Leave the live view. */
void pmp_front_quit(struct pmp_app *app);
/** Signals, and the watch over the sampler. idle: its socket has been found empty. */
void pmp_front_tend(struct pmp_app *app, bool idle);

#endif
