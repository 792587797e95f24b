/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See loop.h. An entry is found by its descriptor: there are a handful. */
#include "run/loop.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>

struct entry {
	int fd; /* -1: removed */
	bool urgent;
	short revents; /* not told yet */
	loop_ready *ready;
	void *arg;
};

struct loop {
	struct entry *entries;
	struct pollfd *fds; /* one for each entry */
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
	free(loop->entries);
	free(loop->fds);
	free(loop);
}

static bool make_room(struct loop *loop)
{
	size_t capacity = loop->capacity ? 2 * loop->capacity : 8;
	struct entry *entries;
	struct pollfd *fds;

	if (loop->count < loop->capacity)
		return true;
	entries = reallocarray(loop->entries, capacity, sizeof(*entries));
	if (entries)
		loop->entries = entries;
	fds = reallocarray(loop->fds, capacity, sizeof(*fds));
	if (fds)
		loop->fds = fds;
	if (!entries || !fds)
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
	loop->entries[loop->count++] = (struct entry){ fd, urgent, 0, ready, arg };
	return true;
}

void loop_remove(struct loop *loop, int fd)
{
	for (size_t i = 0; i < loop->count; i++) {
		if (loop->entries[i].fd == fd)
			loop->entries[i].fd = -1;
	}
}

void loop_around(struct loop *loop, void (*before)(void *arg), void (*after)(void *arg),
		 void *arg)
{
	loop->before = before;
	loop->after = after;
	loop->arg = arg;
}

/* What was removed goes; poll() passes over negative descriptors. */
static void prepare(struct loop *loop, enum loop_mode mode)
{
	size_t kept = 0;

	for (size_t i = 0; i < loop->count; i++) {
		const struct entry entry = loop->entries[i];

		if (entry.fd < 0)
			continue;
		loop->fds[kept] = (struct pollfd){
			.fd = mode == LOOP_ALL || entry.urgent ? entry.fd : -1,
			.events = POLLIN,
		};
		loop->entries[kept++] = entry;
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

static struct entry *next_ready(struct loop *loop, enum loop_mode mode)
{
	for (size_t i = 0; i < loop->count; i++) {
		struct entry *entry = &loop->entries[i];

		if (entry->revents && entry->fd >= 0 &&
		    (mode == LOOP_ALL || entry->urgent))
			return entry;
	}
	return NULL;
}

/* Whoever is called may add and remove, and make a turn of its own. */
int loop_turn(struct loop *loop, enum loop_mode mode, int timeout)
{
	struct entry *entry;
	int n, called = 0;

	prepare(loop, mode);
	n = wait_for(loop, mode, timeout);
	if (n < 0)
		return n == -EINTR ? 0 : n;
	for (size_t i = 0; i < loop->count && n > 0; i++)
		loop->entries[i].revents |= loop->fds[i].revents;
	while ((entry = next_ready(loop, mode))) {
		const struct entry copy = *entry;

		entry->revents = 0;
		copy.ready(copy.arg, copy.revents);
		called++;
	}
	return called;
}
