/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd BLOCKED SPINNING DEPTH: a target for measurements. Every thread is DEPTH
 * functions deep in frames of different sizes; the blocked ones sleep in poll,
 * a condition variable, read or nanosleep in turn. Prints "ready PID".
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int arrived;
static volatile int stay = 1;
static int blocked, depth, pipes[2];

static int rest(int kind)
{
	struct timespec hour = { 3600, 0 };
	struct pollfd fd = { .fd = pipes[0], .events = POLLIN };
	char byte;

	atomic_fetch_add(&arrived, 1);
	while (stay) {
		switch (kind) {
		case 0: poll(&fd, 1, -1); break;
		case 1:
			pthread_mutex_lock(&mutex);
			pthread_cond_wait(&condition, &mutex);
			pthread_mutex_unlock(&mutex);
			break;
		case 2: kind += (int)read(pipes[0], &byte, 1) > 5; break;
		case 3: nanosleep(&hour, NULL); break;
		default: /* spin */ break;
		}
	}
	return kind;
}

static int descend(int left, int kind);

/* The use of pad after the call keeps each frame on the stack. */
#define LEVEL(name, size) \
	static __attribute__((noinline)) int name(int left, int kind) \
	{ \
		volatile char pad[size]; \
		pad[0] = (char)left; \
		return descend(left - 1, kind) + pad[0]; \
	}
LEVEL(level_small, 16)
LEVEL(level_middle, 72)
LEVEL(level_large, 200)

static int descend(int left, int kind)
{
	static int (*const levels[])(int, int) = { level_small, level_middle,
						   level_large };

	return left > 0 ? levels[left % 3](left, kind) : rest(kind);
}

static void *run(void *arg)
{
	long i = (long)arg;

	return (void *)(long)descend(depth, i < blocked ? (int)(i % 4) : 4);
}

int main(int argc, char **argv)
{
	int spinning;

	if (argc != 4 || pipe(pipes) < 0)
		return 2;
	blocked = (int)strtol(argv[1], NULL, 10);
	spinning = (int)strtol(argv[2], NULL, 10);
	depth = (int)strtol(argv[3], NULL, 10);
	for (long i = 0; i < blocked + spinning; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, (void *)i))
			return 1;
	}
	while (arrived < blocked + spinning)
		usleep(1000);
	usleep(100000);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
