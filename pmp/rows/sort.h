/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting that can be interrupted in order to answer a key. */
#ifndef PMP_ROWS_SORT_H
#define PMP_ROWS_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Smaller ones first: by order, by the caller's compare, by count, by tie. */
struct rank {
	uint64_t order, count, tie;
	uint32_t row;
};

struct sorter {
	struct rank *ranks, *other; /* other: scratch */
	size_t count;		    /* of ranks, which the caller fills in */
	size_t width, begin;	    /* merging runs of this width; done up to begin */
	int (*compare)(const void *arg, uint32_t a, uint32_t b); /* rows; NULL: none */
	const void *arg;
};

/** Make room for that many ranks. False: no memory. */
bool sort_begin(struct sorter *sort, size_t room);
/** False: time is up (see clock_is_past()), call it again. */
bool sort_go_on(struct sorter *sort, uint64_t until);
void sort_free(struct sorter *sort);

#endif
