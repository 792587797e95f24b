/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far it has come: a line on standard error, written over itself, when that is a
 * terminal and the work takes longer than a second. It is gone before anything else is
 * written, and at the end.
 */
#ifndef PMP_SAY_PROGRESS_H
#define PMP_SAY_PROGRESS_H

#include "options/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is shown; the caller fills it in. */
struct progress {
	uint64_t snapshots, threads; /* so far; of the last snapshot */
	uint64_t stopped;	     /* ns, in all */
	const struct options *options;
	uint64_t start, shown; /* CLOCK_MONOTONIC */
	bool on;
};

/** Begin. Without a terminal, with -q, a command or a screen it stays off. */
void progress_open(struct progress *progress, const struct options *options);
/** To be called often; now: CLOCK_MONOTONIC. */
void progress_show(struct progress *progress, uint64_t now);
/**
 * Something begins in which progress_show() is not called: after a second the line
 * says so, "reading server.pb.gz". NULL: it is over.
 */
void progress_work(struct progress *progress, const char *what);
/** What is being done now: written at once. */
void progress_now(struct progress *progress, const char *what);
/** Remove the line, if there is one. */
void progress_clear(void);

#endif
