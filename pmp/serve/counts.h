/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the server has answered so far, in memory that it shares with the front: it survives
 * a server that ends, and to read it costs no message. The server is not believed, but there
 * is nothing in it except numbers.
 */
#ifndef PMP_SERVE_COUNTS_H
#define PMP_SERVE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#define COUNTS_PAGES 96 /* at least as many as there are, and one for none of them */
#define COUNTS_STATUSES 24

struct serve_counts {
	/* By page_number(), the last one: of no page; and by counts_status(). */
	volatile uint64_t requests[COUNTS_PAGES][COUNTS_STATUSES];
	volatile uint32_t connections; /* that are open now */
	volatile int32_t server;       /* its process id */
};

/** Shared with processes that are forked later; NULL: no memory. */
struct serve_counts *counts_new(void);
/** Takes NULL. */
void counts_free(struct serve_counts *counts);
/** A response has been put together; page: its number, or -1. */
void counts_add(struct serve_counts *counts, ptrdiff_t page, int status);
/** Column i is of this HTTP status; 0: there is no such column. */
int counts_status(size_t i);

#endif
