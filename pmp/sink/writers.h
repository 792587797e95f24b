/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes long to write is written by a separate process: a fork, which has all that was
 * counted, while this process goes on with samples and other requests. Output goes into
 * files that both have open; the result comes back through a pipe at its end.
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

/* All zero at first, except own. */
struct writers {
	struct own_processes *own; /* tracks the processes, or NULL */
	size_t count;		   /* at work */
	uint64_t started;
	unsigned missing; /* of enum confine_missing, of writers that have ended */
	pid_t ending[WRITERS_ENDING_MAX]; /* not reaped yet */
	size_t ending_count;
};

struct writer {
	pid_t pid; /* 0: none */
	int fd;	   /* readable when it has ended */
};

/**
 * Start a writer, unless there are too many: it calls write(arg), and then sends the size
 * bytes of result, which write() has set, to writers_take(). Must be called while no other
 * thread is active. False: none was started.
 */
bool writers_start(struct writers *writers, struct writer *writer,
		   void (*write)(void *arg), void *arg, const void *result, size_t size);
/** Take the result of a writer that has ended, or will soon; waits for
 * it. False: the writer died. */
bool writers_take(struct writers *writers, struct writer *writer, void *result,
		  size_t size);
/** Kill a writer whose result is not needed any more, if there is one. */
void writers_stop(struct writers *writers, struct writer *writer);
/** Reap writers that have ended. */
void writers_tend(struct writers *writers);

#endif
