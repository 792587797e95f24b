/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of the server's answers, in memory that it shares with the front: they
 * outlive a server, and reading them takes no message. The server is not trusted,
 * but there are only numbers.
 */
#ifndef PMP_SERVE_COUNTS_H
#define PMP_SERVE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#define COUNTS_PAGES 96 /* more than there are pages; one is for unknown pages */
#define COUNTS_STATUSES 24

struct serve_counts {
	/* By page_number(), the last row for no page; and by column of counts_status(). */
	volatile uint64_t requests[COUNTS_PAGES][COUNTS_STATUSES];
	volatile uint32_t connections; /* open now */
	volatile int32_t server;       /* its pid */
};

/** Shared with processes that are forked later; NULL: no memory. */
struct serve_counts *counts_new(void);
/** Takes NULL. */
void counts_free(struct serve_counts *counts);
/** Count a response; page: its number, or -1. */
void counts_add(struct serve_counts *counts, ptrdiff_t page, int status);
/** The HTTP status of column i; 0: there is no such column. */
int counts_status(size_t i);

#endif
