/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where samples are counted, set up from the options: the profile, its symbolizer, the base
 * it is compared with, and the report to write.
 */
#ifndef PMP_RUN_COUNTING_H
#define PMP_RUN_COUNTING_H

#include "libpmp.h"
#include "options/options.h"

#include <stdbool.h>
#include <stddef.h>

struct fetcher;
struct namer;
struct pmp_heap_batch;
struct worker;

/* What a sink needs a profile to keep; see struct pmp_profile_options. */
struct counting_needs {
	bool details, times, snapshots, live, waits, history;
	bool lines; /* source lines of frames, as well as functions */
};

struct counting {
	/* Set by the caller; borrowed. */
	const struct options *options;
	const char *command_line, *host; /* for headers of formats */
	bool saved;			 /* it counts saved profiles */
	size_t share;			 /* divisor of --max-memory; 0: 1 */
	struct counting *also; /* counts the same samples for another sink, or NULL */
	struct counting_needs needs;
	struct fetcher *fetcher; /* of --debuginfod, or NULL */
	struct namer *namer;	 /* reads files; NULL: this process does */
	struct worker *worker;	 /* looks up names during counting; or NULL */
	bool all_at_once;	 /* wait for all names, not only for those on a screen */
	/* Owned. */
	struct pmp_symbolizer *symbolizer, *base_symbolizer;
	struct pmp_profile *profile, *base; /* base: of --diff, or NULL */
	struct pmp_report *report;	    /* NULL until one is written */
	struct pmp_report *base_report;
};

/** Open the profile. 0 or an enum pmp_status. */
int counting_open(struct counting *counting, struct pmp_error *err);
/** Open an empty profile to compare it with. 0 or an enum pmp_status. */
int counting_open_base(struct counting *counting, struct pmp_error *err);
/** Count a sample, here and in the chain of counting->also. 0 or an enum pmp_status. */
int counting_add(const struct counting *counting, const struct pmp_sample *sample,
		 struct pmp_error *err);
/** The same for what a recorder has recorded. */
int counting_add_heap(const struct counting *counting, const struct pmp_heap_batch *batch,
		      struct pmp_error *err);
/** A process has ended; also for the chain of counting->also. See pmp_profile_forget(). */
void counting_forget(const struct counting *counting, pid_t pid);
/** It continues after a gap without samples: see pmp_profile_interrupt(). */
void counting_interrupt(const struct counting *counting, pid_t pid);
/** Start over with an empty profile; on failure the old counts stay. 0 or PMP_ENOMEM. */
int counting_restart(struct counting *counting, struct pmp_error *err);
/** Make or update counting->report from everything counted so far. 0 or an error. */
int counting_report(struct counting *counting, struct pmp_error *err);
void counting_close(struct counting *counting);

#endif
