/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop of a run: one poll() for all descriptors, and a callback for each. A small
 * table is enough; libevent would not pay off.
 */
#ifndef PMP_RUN_LOOP_H
#define PMP_RUN_LOOP_H

#include <stdbool.h>

struct loop;

/** Called when the descriptor is ready; revents as from poll(). */
typedef void loop_ready(void *arg, short revents);

enum loop_mode {
	LOOP_ALL,
	LOOP_URGENT, /* only descriptors that were added as urgent */
};

/** NULL: no memory. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/**
 * From now on call ready(arg) when fd can be read. urgent: also while the worker uses the
 * data that the other callbacks need. An fd of -1 is ignored. False: no memory.
 */
bool loop_add(struct loop *loop, int fd, bool urgent, loop_ready *ready, void *arg);
/** Remove fd before it is closed. It may be unknown, or -1. */
void loop_remove(struct loop *loop, int fd);

/**
 * Wait for at most timeout ms (-1: no limit), then make the callbacks of what
 * is ready; they may add and remove descriptors. Returns the number of
 * callbacks, or a negative errno.
 */
int loop_turn(struct loop *loop, enum loop_mode mode, int timeout);

/** Call before() and after() around each wait of LOOP_ALL, to release a lock meanwhile. */
void loop_around(struct loop *loop, void (*before)(void *arg), void (*after)(void *arg),
		 void *arg);

#endif
