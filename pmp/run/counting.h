/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What samples are counted in, as the options want it: the profile, its names, what it is
 * compared with, and what is to be written of them.
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

/* What a profile must keep for a sink; see struct pmp_profile_options. */
struct counting_needs {
	bool details, times, snapshots, live, waits, history;
	bool lines; /* of frames, as well as functions */
};

struct counting {
	/* To be filled in; borrowed. */
	const struct options *options;
	const char *command_line, *host; /* for headers of formats */
	bool saved;			 /* saved profiles come into it */
	size_t share;			 /* of --max-memory: one of so many */
	struct counting *also; /* counts the same samples for another sink, or NULL */
	struct counting_needs needs;
	struct fetcher *fetcher; /* of --debuginfod, or NULL */
	struct namer *namer;	 /* reads files; or NULL: this process does */
	struct worker *worker;	 /* names while others count; or NULL */
	bool all_at_once;	 /* it waits for all names, not for those on a screen */
	/* Its own. */
	struct pmp_symbolizer *symbolizer, *base_symbolizer;
	struct pmp_profile *profile, *base; /* base: of --diff, or NULL */
	struct pmp_report *report;	    /* NULL until one is written */
	struct pmp_report *base_report;
};

/** The profile. 0 or an enum pmp_status. */
int counting_open(struct counting *counting, struct pmp_error *err);
/** One that it is compared with: nothing is in it yet. 0 or an enum pmp_status. */
int counting_open_base(struct counting *counting, struct pmp_error *err);
/** Count a sample, here and in what counts the same. 0 or an enum pmp_status. */
int counting_add(const struct counting *counting, const struct pmp_sample *sample,
		 struct pmp_error *err);
/** The same of what a recorder has written down. */
int counting_add_heap(const struct counting *counting, const struct pmp_heap_batch *batch,
		      struct pmp_error *err);
/** A process has ended, here and in what counts the same: see pmp_profile_forget(). */
void counting_forget(const struct counting *counting, pid_t pid);
/** Count from the beginning; on failure what was counted stays. 0 or PMP_ENOMEM. */
int counting_restart(struct counting *counting, struct pmp_error *err);
/** What is to be written of all that was counted so far: counting->report. 0 or an error. */
int counting_report(struct counting *counting, struct pmp_error *err);
void counting_close(struct counting *counting);

#endif
