/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --debuginfod: the front's side of the process that asks servers for files. Names wait
 * for it; signals, the watch over the sampler and the live view go on.
 */
#ifndef PMP_PMP_FETCHER_H
#define PMP_PMP_FETCHER_H

#include "libpmp.h"

struct pmp_app;
struct pmp_fetcher;

/**
 * Fork the process. Nothing is loaded or asked for yet. To be called while
 * single-threaded. 0 or a negative code.
 */
int pmp_fetcher_new(struct pmp_app *app, struct pmp_fetcher **fetcher,
		    struct pmp_error *err);
/** The fetch of struct pmp_symbolizer_options; arg is the fetcher. */
int pmp_fetcher_get(void *arg, const struct pmp_wanted_file *wanted);

/* These take NULL. */

/** Print why nothing is fetched any more, once. To be called by the front's own thread.
 */
void pmp_fetcher_tell(struct pmp_fetcher *fetcher);
/** Give up what another thread waits for; nothing is fetched any more. */
void pmp_fetcher_cancel(struct pmp_fetcher *fetcher);
/** Nobody waits for it any more. */
void pmp_fetcher_free(struct pmp_fetcher *fetcher);

#endif
