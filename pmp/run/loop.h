/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of a run: descriptors with a function each, and one poll() for all of them.
 * libevent would bring more than it saves: a table of some lines is all that is needed.
 */
#ifndef PMP_RUN_LOOP_H
#define PMP_RUN_LOOP_H

#include <stdbool.h>

struct loop;

/** Called when the descriptor is ready; revents as of poll(). */
typedef void loop_ready(void *arg, short revents);

enum loop_mode {
	LOOP_ALL,
	LOOP_URGENT, /* only what was added as urgent */
};

/** NULL: no memory. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/**
 * From now on call ready(arg) when fd can be read. urgent: also while the worker has what
 * others work on. Of -1 there is nothing to wait for. False: no memory.
 */
bool loop_add(struct loop *loop, int fd, bool urgent, loop_ready *ready, void *arg);
/** Forget it, before it is closed. Not an error if it is not there, or -1. */
void loop_remove(struct loop *loop, int fd);

/**
 * Wait for at most that many ms (-1: any number), then call whoever is ready; these may
 * add and remove. Returns how many were called, or a negative errno.
 */
int loop_turn(struct loop *loop, enum loop_mode mode, int timeout);

/** Have these called around each wait of LOOP_ALL: a lock is not held meanwhile. */
void loop_around(struct loop *loop, void (*before)(void *arg), void (*after)(void *arg),
		 void *arg);

#endif
