/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What target/race.c tells of itself while it runs, in a file that bench/edges.c maps:
 * where its locks are, and when each thread asked for, got and released which of them.
 */
#ifndef PMP_RACE_H
#define PMP_RACE_H

#include <stdatomic.h>
#include <stdint.h>

#define RACE_THREADS 12
#define RACE_LOCKS 8
#define RACE_TURNS 16384 /* that are kept of each thread: a power of two */
#define RACE_MAGIC UINT64_C(0x65636172)

enum race_kind {
	RACE_MUTEX,
	RACE_ROBUST, /* mutexes, too */
	RACE_INHERIT,
	RACE_RWLOCK,
};

enum race_how {
	RACE_WAITS = 0,
	RACE_TRIES = 1, /* does not wait if it is held */
	RACE_READS = 2,
};

/* Times are those of CLOCK_MONOTONIC in ns; 0: not yet. request is written before the
 * attempt, and release after the lock was released: it was never held at another time
 * than between these. Where there is a release but no acquire, the attempt has failed. */
struct race_turn {
	atomic_ullong number; /* from 1 on; another one: it is being overwritten */
	atomic_ullong request, acquire, release;
	atomic_uint lock, how;
};

struct race_page {
	uint64_t magic;
	uint64_t mortal; /* threads end, and others take their places */
	struct {
		uint64_t address;
		uint32_t kind;
	} locks[RACE_LOCKS];
	struct {
		atomic_int tid;
		atomic_ullong
			last; /* number of its last turn, which is in turns[that % RACE_TURNS] */
		struct race_turn turns[RACE_TURNS];
	} threads[RACE_THREADS];
};

#endif
