/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaker [MS [PLACE]]: a small server that leaks, but only after its first requests, and by one
 * of the ways that a request may take. It ends after so many ms, or by SIGTERM; 0: by that only.
 * PLACE: 0 the trail, 1 the cache, 2 sessions, 3 pages.
 */
#include "target.h"

#define CACHED 500
#define SESSIONS 200
#define WARM 1000 /* requests */
#define LEAKS 3	  /* one of so many requests; */
#define LARGE 100 /* the same of pages, which are larger */

enum place { TRAIL, CACHE, SESSION, PAGE };

static enum place place;

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

/* What is to be freed is forgotten instead, where and when it is to leak. */
static bool is_forgotten(enum place where, unsigned request)
{
	return where == place && request > WARM &&
	       request % (where == PAGE ? LARGE : LEAKS) == 0;
}

static void release(void *block, enum place where, unsigned request)
{
	if (!is_forgotten(where, request))
		free(block);
}

/* Grows until the cache is full. */
static NOINLINE void fill_cache(unsigned request)
{
	release(cache[request % CACHED], CACHE, request);
	cache[request % CACHED] = get_memory(4000);
}

/* Live for some time. */
static NOINLINE void open_session(unsigned request)
{
	release(sessions[request % SESSIONS], SESSION, request);
	sessions[request % SESSIONS] = get_memory(2000);
}

static NOINLINE void render_page(unsigned request)
{
	release(get_memory(30000), PAGE, request);
}

/* Each entry points to the one before, and none is ever freed. */
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
	render_page(request);
	if (is_forgotten(TRAIL, request))
		write_audit();
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	const unsigned long lifetime = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct timespec start, now;

	if (argc > 2)
		place = (enum place)atoi(argv[2]);
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
