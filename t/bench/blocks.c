/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A large heap: blocks [COUNT] has allocated that many blocks of 120 bytes, 8 million if it is
 * not said, and freed each third one: 1 GiB. A thread computes meanwhile.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL 8000000
#define SIZE 120

static volatile unsigned long turns;

static void *compute(void *arg)
{
	for (;;)
		turns++;
	return arg;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : USUAL;
	char **blocks = calloc(count, sizeof(*blocks));
	pthread_t thread;

	for (size_t i = 0; blocks && i < count; i++) {
		blocks[i] = malloc(SIZE);
		if (blocks[i])
			memset(blocks[i], 1, sizeof(*blocks));
	}
	for (size_t i = 0; blocks && i < count; i += 3)
		free(blocks[i]);
	if (!blocks || pthread_create(&thread, NULL, compute, NULL))
		return 1;
	printf("ready %d\n", getpid());
	fflush(stdout);
	pause();
	return 0;
}
