/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --debuginfod: debug files from servers, fetched by elfutils' program debuginfod-find. The
 * library would bring libcurl, cryptography and threads into pmp; a separate program may
 * crash or hang. The worker waits for it when it looks up names.
 */
#ifndef PMP_FETCH_FETCHER_H
#define PMP_FETCH_FETCHER_H

#include "libpmp.h"

#include <stdbool.h>

struct fetcher;
struct progress;
struct run_state;

/** Prepare fetching, without starting anything; must be called while no other thread is
 * active. state and progress are borrowed. Reports if there is no cache, and if verbose
 * what the kernel lacks. 0 or a negative code. */
int fetcher_new(const struct run_state *state, struct progress *progress, bool verbose,
		struct fetcher **fetcher, struct pmp_error *err);
/** The fetch function of struct pmp_symbolizer_options; arg is the
 * fetcher. Called by workers. */
int fetcher_get(void *arg, const struct pmp_wanted_file *wanted);

/* These are for the run's own thread, and take NULL. */

/** The number of threads that wait for a file, or for their turn to ask for one. */
unsigned fetcher_waiting(const struct fetcher *fetcher);
/** Print why nothing is fetched any more, once. */
void fetcher_tell(struct fetcher *fetcher);
/** Give up fetching if pmp was asked to end after the current fetch began. With
 * a server, where the user does not see that files are fetched, patience ns
 * after pmp was asked to end. */
void fetcher_interrupt(struct fetcher *fetcher, uint64_t patience);
/** Give up the file that the worker waits for; nothing is fetched any more. */
void fetcher_cancel(struct fetcher *fetcher);
/** Must be called when no thread waits any more. */
void fetcher_free(struct fetcher *fetcher);

#endif
