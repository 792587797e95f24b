/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes long to write is written by a process of its own: a copy of this one, which has
 * all that was counted, while samples and other requests are taken here. What it writes goes
 * into files that both have; what it says at its end comes back through a pipe.
 */
#ifndef PMP_SINK_WRITERS_H
#define PMP_SINK_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WRITERS_MAX 4
#define WRITERS_ENDING_MAX 64

struct own_processes;

/* All zero at first, but own. */
struct writers {
	struct own_processes *own; /* which they are to be added to; NULL: nothing */
	size_t count;		   /* that work */
	uint64_t started;
	unsigned missing; /* of enum confine_missing, of those that have written */
	pid_t ending[WRITERS_ENDING_MAX]; /* not reaped yet */
	size_t ending_count;
};

struct writer {
	pid_t pid; /* 0: there is none */
	int fd;	   /* can be read when it has ended */
};

/**
 * Start one, unless there are too many: it calls write(arg), and then the size bytes of
 * result, which that has set, are its last words. Only while this process has no other
 * thread at work. False: there is none.
 */
bool writers_start(struct writers *writers, struct writer *writer,
		   void (*write)(void *arg), void *arg, const void *result, size_t size);
/** One has ended, or does soon: take its last words; it is waited for them. False: it has
 * died. */
bool writers_take(struct writers *writers, struct writer *writer, void *result,
		  size_t size);
/** What it writes is not wanted any more. Nothing, if there is none. */
void writers_stop(struct writers *writers, struct writer *writer);
/** Reap those that have ended. */
void writers_tend(struct writers *writers);

#endif
