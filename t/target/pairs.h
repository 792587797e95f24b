/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What target/pairs.c tells of itself while it runs, in a file that bench/truth.c maps:
 * where the functions of its two ways are, and at each moment on which way each thread is.
 */
#ifndef PMP_PAIRS_H
#define PMP_PAIRS_H

#include <stdatomic.h>
#include <stdint.h>

#define PAIRS_THREADS 6 /* if not told otherwise */
#define PAIRS_MOST 64
#define PAIRS_MAGIC UINT64_C(0x7061697273)

/* The two lowest bits of a word. Above them its number of changes, which is odd on way B. */
enum {
	PAIRS_OUTSIDE = 0, /* in none of the functions */
	PAIRS_ON_WAY = 1,  /* perhaps in those of its way, never in the others */
	PAIRS_ASLEEP = 2,  /* in outer, inner and one of the sleeps */
};

enum {
	PAIRS_OUTER_A,
	PAIRS_INNER_A,
	PAIRS_OUTER_B,
	PAIRS_INNER_B,
	PAIRS_READ,
	PAIRS_POLL,
	PAIRS_FUTEX,
	PAIRS_FUNCTIONS
};

struct pairs_page {
	uint64_t magic;
	uint64_t count; /* of threads */
	struct {
		uint64_t start, end;
	} functions[PAIRS_FUNCTIONS];
	struct {
		atomic_int tid;
		atomic_ullong word, turns;
	} threads[PAIRS_MOST];
};

#endif
