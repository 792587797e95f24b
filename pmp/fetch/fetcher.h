/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --debuginfod: debug files from servers, by elfutils' program debuginfod-find. The library
 * would bring along libcurl, cryptography and threads: it may crash or hang over there.
 * The worker waits for it when it looks up names.
 */
#ifndef PMP_FETCH_FETCHER_H
#define PMP_FETCH_FETCHER_H

#include "libpmp.h"

#include <stdbool.h>

struct fetcher;
struct progress;
struct run_state;

/** Nothing is started or asked for yet, and no other thread does anything; state and progress
 * are borrowed. Says if there is no cache, and if verbose what the kernel lacks. 0 or a
 * negative code. */
int fetcher_new(const struct run_state *state, struct progress *progress, bool verbose,
		struct fetcher **fetcher, struct pmp_error *err);
/** The fetch of struct pmp_symbolizer_options; arg is the fetcher. For the worker. */
int fetcher_get(void *arg, const struct pmp_wanted_file *wanted);

/* These are for the run's own thread, and take NULL. */

/** How many threads wait for a file, or for their turn to ask for one. */
unsigned fetcher_waiting(const struct fetcher *fetcher);
/** Print why nothing is fetched any more, once. */
void fetcher_tell(struct fetcher *fetcher);
/** A signal that asks for an end, and came after a fetch was begun, ends the fetch. With a server,
 * where the user is not shown that files are fetched, all fetches end patience ns after it. */
void fetcher_interrupt(struct fetcher *fetcher, uint64_t patience);
/** Give up what the worker waits for; nothing is fetched any more. */
void fetcher_cancel(struct fetcher *fetcher);
/** It is not waited for any more. */
void fetcher_free(struct fetcher *fetcher);

#endif
