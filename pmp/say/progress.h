/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress: a line on standard error that overwrites itself, if that is a terminal and
 * the work takes longer than a second. It is removed before anything else is written, and
 * at the end.
 */
#ifndef PMP_SAY_PROGRESS_H
#define PMP_SAY_PROGRESS_H

#include "options/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller fills in what is shown. */
struct progress {
	uint64_t snapshots, threads; /* so far; of the last snapshot */
	uint64_t stopped;	     /* ns, total */
	const struct options *options;
	uint64_t start, shown; /* CLOCK_MONOTONIC */
	bool on;
};

/** Begin. Progress stays off without a terminal, and with -q, a command or a screen. */
void progress_open(struct progress *progress, const struct options *options);
/** Call it often; now: CLOCK_MONOTONIC. */
void progress_show(struct progress *progress, uint64_t now);
/**
 * Begin a task during which progress_show() is not called: after a second the line shows
 * it, "reading server.pb.gz". NULL: the task is over.
 */
void progress_work(struct progress *progress, const char *what);
/** Show the present task at once. */
void progress_now(struct progress *progress, const char *what);
/** Remove the line, if there is one. */
void progress_clear(void);

#endif
