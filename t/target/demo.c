/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Something to look at: a process whose threads do what threads of a server do.
 *
 *	busy		computes
 *	holder		computes while it holds a lock
 *	queue-1 ... 4	want that lock
 *	poll, epoll	wait for input that never comes
 *	deep		sleeps at the end of 200 calls
 *
 * Prints "ready PID" once all are in place and runs until it is killed.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define QUEUE 4
#define DEPTH 200
#define STEPS 1000000

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int in_place;
static _Atomic uint64_t result;

static void die(const char *what, int error)
{
	fprintf(stderr, "demo: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

__attribute__((noinline)) static void compute_checksum(void)
{
	uint64_t sum = result;

	for (unsigned i = 0; i < STEPS; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	result = sum;
}

__attribute__((noinline)) static void rebuild_index(void)
{
	for (;;)
		compute_checksum();
}

static void *busy(void *arg)
{
	(void)arg;
	in_place++;
	for (;;)
		compute_checksum();
	return NULL;
}

static void *holder(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&table_lock);
	in_place++;
	rebuild_index();
	return NULL;
}

__attribute__((noinline)) static void update_table(void)
{
	pthread_mutex_lock(&table_lock);
	pthread_mutex_unlock(&table_lock);
}

static void *queue(void *arg)
{
	(void)arg;
	in_place++;
	update_table();
	return NULL;
}

static void *wait_poll(void *arg)
{
	struct pollfd fd = { .fd = *(int *)arg, .events = POLLIN };

	in_place++;
	while (poll(&fd, 1, -1) >= 0 || errno == EINTR)
		;
	die("poll", errno);
	return NULL;
}

static void *wait_epoll(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, *(int *)arg, &event))
		die("epoll", errno);
	in_place++;
	while (epoll_wait(epoll, &event, 1, -1) >= 0 || errno == EINTR)
		;
	die("epoll_wait", errno);
	return NULL;
}

__attribute__((noinline)) static unsigned descend(unsigned levels)
{
	if (levels > 1)
		return descend(levels - 1) + 1;
	in_place++;
	while (nanosleep(&(struct timespec){ .tv_sec = 3600 }, NULL) == 0)
		;
	return 1;
}

static void *deep(void *arg)
{
	(void)arg;
	result = descend(DEPTH);
	return NULL;
}

static void start(void *(*run)(void *), void *arg, const char *name)
{
	int want = in_place + 1;
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run, arg);

	if (error)
		die("pthread_create", error);
	pthread_setname_np(thread, name);
	/* One after the other: the holder must have its lock before the queue. */
	while (in_place < want)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

int main(void)
{
	char name[16];
	int quiet[2];

	if (pipe(quiet))
		die("pipe", errno);
	start(busy, NULL, "busy");
	start(holder, NULL, "holder");
	for (int i = 1; i <= QUEUE; i++) {
		snprintf(name, sizeof(name), "queue-%d", i);
		start(queue, NULL, name);
	}
	start(wait_poll, &quiet[0], "poll");
	start(wait_epoll, &quiet[0], "epoll");
	start(deep, NULL, "deep");
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
