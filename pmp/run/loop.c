/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See loop.h. Linear search for descriptors: there are only a handful. */
#include "run/loop.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>

struct descriptor {
	int fd; /* -1: removed */
	bool urgent;
	short revents; /* not reported yet */
	loop_ready *ready;
	void *arg;
};

struct loop {
	struct descriptor *descriptors;
	struct pollfd *fds; /* one for each */
	size_t count, capacity;
	void (*before)(void *arg), (*after)(void *arg);
	void *arg;
};

struct loop *loop_new(void)
{
	return calloc(1, sizeof(struct loop));
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	free(loop->descriptors);
	free(loop->fds);
	free(loop);
}

static bool make_room(struct loop *loop)
{
	size_t capacity = loop->capacity ? 2 * loop->capacity : 8;
	struct descriptor *descriptors;
	struct pollfd *fds;

	if (loop->count < loop->capacity)
		return true;
	descriptors = reallocarray(loop->descriptors, capacity, sizeof(*descriptors));
	if (descriptors)
		loop->descriptors = descriptors;
	fds = reallocarray(loop->fds, capacity, sizeof(*fds));
	if (fds)
		loop->fds = fds;
	if (!descriptors || !fds)
		return false;
	loop->capacity = capacity;
	return true;
}

bool loop_add(struct loop *loop, int fd, bool urgent, loop_ready *ready, void *arg)
{
	if (fd < 0)
		return true;
	if (!make_room(loop))
		return false;
	loop->descriptors[loop->count++] =
		(struct descriptor){ fd, urgent, 0, ready, arg };
	return true;
}

void loop_remove(struct loop *loop, int fd)
{
	for (size_t i = 0; i < loop->count; i++) {
		if (loop->descriptors[i].fd == fd)
			loop->descriptors[i].fd = -1;
	}
}

void loop_around(struct loop *loop, void (*before)(void *arg), void (*after)(void *arg),
		 void *arg)
{
	loop->before = before;
	loop->after = after;
	loop->arg = arg;
}

/* Drop removed descriptors; poll() ignores negative ones. */
static void prepare(struct loop *loop, enum loop_mode mode)
{
	size_t kept = 0;

	for (size_t i = 0; i < loop->count; i++) {
		const struct descriptor item = loop->descriptors[i];

		if (item.fd < 0)
			continue;
		loop->fds[kept] = (struct pollfd){
			.fd = mode == LOOP_ALL || item.urgent ? item.fd : -1,
			.events = POLLIN,
		};
		loop->descriptors[kept++] = item;
	}
	loop->count = kept;
}

static int wait_for(struct loop *loop, enum loop_mode mode, int timeout)
{
	bool around = mode == LOOP_ALL && loop->before;
	int n, number;

	if (around)
		loop->before(loop->arg);
	n = poll(loop->fds, loop->count, timeout);
	number = errno;
	if (around)
		loop->after(loop->arg);
	return n < 0 ? -number : n;
}

static struct descriptor *next_ready(struct loop *loop, enum loop_mode mode)
{
	for (size_t i = 0; i < loop->count; i++) {
		struct descriptor *item = &loop->descriptors[i];

		if (item->revents && item->fd >= 0 && (mode == LOOP_ALL || item->urgent))
			return item;
	}
	return NULL;
}

/* Callbacks may add and remove descriptors, and call loop_turn() themselves. */
int loop_turn(struct loop *loop, enum loop_mode mode, int timeout)
{
	struct descriptor *item;
	int n, called = 0;

	prepare(loop, mode);
	n = wait_for(loop, mode, timeout);
	if (n < 0)
		return n == -EINTR ? 0 : n;
	for (size_t i = 0; i < loop->count && n > 0; i++)
		loop->descriptors[i].revents |= loop->fds[i].revents;
	while ((item = next_ready(loop, mode))) {
		const struct descriptor copy = *item;

		item->revents = 0;
		copy.ready(copy.arg, copy.revents);
		called++;
	}
	return called;
}
