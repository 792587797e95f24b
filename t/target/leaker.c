/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaker [MS]: a small server that leaks, but only after its first requests, and by one of the
 * ways that a request may take. It ends after so many ms, or by SIGTERM.
 */
#include "target.h"

#define CACHED 500
#define SESSIONS 200
#define WARM 1000 /* requests */

static void *cache[CACHED], *sessions[SESSIONS];
static void *volatile audit_trail;

static NOINLINE void *get_memory(size_t size)
{
	void *block = malloc(size);

	if (!block)
		target_die("malloc");
	memset(block, 1, size);
	return block;
}

/* Grows until the cache is full. */
static NOINLINE void fill_cache(unsigned request)
{
	free(cache[request % CACHED]);
	cache[request % CACHED] = get_memory(4000);
}

/* Live for some time. */
static NOINLINE void open_session(unsigned request)
{
	free(sessions[request % SESSIONS]);
	sessions[request % SESSIONS] = get_memory(2000);
}

static NOINLINE void render_page(void)
{
	free(get_memory(30000));
}

/* The leak: each entry points to the one before, and none is ever freed. */
static NOINLINE void write_audit(void)
{
	void **entry = get_memory(1000);

	*entry = audit_trail;
	audit_trail = entry;
}

static NOINLINE void handle_request(unsigned request)
{
	fill_cache(request);
	open_session(request);
	render_page();
	if (request > WARM && request % 3 == 0)
		write_audit();
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	const unsigned long lifetime = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct timespec start, now;

	alarm(TARGET_LIFETIME);
	clock_gettime(CLOCK_MONOTONIC, &start);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (unsigned request = 0;; request++) {
		handle_request(request);
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (lifetime && (unsigned long)(now.tv_sec - start.tv_sec) * 1000 +
						(unsigned long)now.tv_nsec / 1000000 >
					lifetime + (unsigned long)start.tv_nsec / 1000000)
			return 0;
	}
}
