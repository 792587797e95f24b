/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting that can be interrupted, so that a key is answered meanwhile. */
#ifndef PMP_ROWS_SORT_H
#define PMP_ROWS_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Smaller ones first: by order, by what the caller says of these two, by count, by tie. */
struct rank {
	uint64_t order, count, tie;
	uint32_t row;
};

struct sorter {
	struct rank *ranks, *other; /* the second is scratch */
	size_t count;		    /* of ranks, which the caller has filled */
	size_t width, begin;	    /* runs of this width are merged, up to here */
	int (*compare)(const void *arg, uint32_t a, uint32_t b); /* of rows; NULL: none */
	const void *arg;
};

/** Room for so many ranks. False: no memory. */
bool sort_begin(struct sorter *sort, size_t room);
/** False: it is late (see clock_is_past()), call it again. */
bool sort_go_on(struct sorter *sort, uint64_t until);
void sort_free(struct sorter *sort);

#endif
