/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far it has come: a line on standard error, written over itself, when that is a
 * terminal and the work takes longer than a second. It is gone before anything else is
 * written, and at the end.
 */
#ifndef PMP_PMP_PROGRESS_H
#define PMP_PMP_PROGRESS_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is told; the caller fills it in. */
struct pmp_progress {
	uint64_t snapshots, threads; /* so far; of the last snapshot */
	uint64_t stopped;	     /* ns, in all */
	const struct pmp_options *options;
	uint64_t begin, shown; /* CLOCK_MONOTONIC */
	bool on;
};

/** Begin. Without a terminal, with -q, a command or a screen it stays off. */
void pmp_progress_open(struct pmp_progress *progress, const struct pmp_options *options);
/** To be called often; now: CLOCK_MONOTONIC. */
void pmp_progress_show(struct pmp_progress *progress, uint64_t now);
/**
 * Something begins in which pmp_progress_show() is not called: after a second the line
 * says so, "reading server.pb.gz". NULL: it is over.
 */
void pmp_progress_work(struct pmp_progress *progress, const char *what);
/** What is being done now: written at once. */
void pmp_progress_now(struct pmp_progress *progress, const char *what);
/** Remove the line, if there is one. */
void pmp_progress_clear(void);

#endif
