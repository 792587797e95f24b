/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates, and counts for itself: "mallocs callocs aligned reallocs frees allocated freed
 * live blocks" in its last line, in usable bytes. Nothing else in it allocates. As
 * allocator MODE COUNT: what the modes do is at their functions.
 */
#include "target.h"

#include <malloc.h>
#include <sys/wait.h>

#define KEPT 1000

static struct {
	uint64_t mallocs, callocs, aligned, reallocs, frees, allocated, freed;
} sums;

static void *blocks[KEPT];
static uint64_t state = 88172645463325252;

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % below);
}

static void *got(void *block, uint64_t *counter)
{
	if (!block)
		return NULL;
	++*counter;
	sums.allocated += malloc_usable_size(block);
	return block;
}

static void give(void *block)
{
	if (!block)
		return;
	sums.frees++;
	sums.freed += malloc_usable_size(block);
	free(block);
}

static void *resize(void *block, size_t size)
{
	const size_t before = block ? malloc_usable_size(block) : 0;
	void *moved = realloc(block, size);

	if (!moved)
		return block;
	if (!block)
		return got(moved, &sums.mallocs);
	sums.freed += before;
	return got(moved, &sums.reallocs);
}

static void *aligned(size_t size)
{
	void *block = NULL;

	switch (draw(4)) {
	case 0: block = aligned_alloc(64, size); break;
	case 1: block = memalign(4096, size); break;
	case 2: block = valloc(size); break;
	default:
		if (posix_memalign(&block, 128, size))
			block = NULL;
		break;
	}
	return got(block, &sums.aligned);
}

/* All calls, of all sizes. */
static void mixed(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void **block = &blocks[draw(KEPT)];
		const size_t size = draw(10) ? draw(2000) : draw(300000);

		switch (draw(8)) {
		case 0: *block = resize(*block, size + 1); break;
		case 1:
			give(*block);
			*block = aligned(size);
			break;
		case 2:
			give(*block);
			*block = got(calloc(draw(10) + 1, size), &sums.callocs);
			break;
		default:
			give(*block);
			*block = got(malloc(size), &sums.mallocs);
			break;
		}
	}
}

/* ---- stacks ------------------------------------------------------------------------- */

NOINLINE static void f0(unsigned how, size_t size)
{
	void *block = NULL;

	switch (how % 4) {
	case 0: block = got(malloc(size), &sums.mallocs); break;
	case 1: block = got(calloc(1, size), &sums.callocs); break;
	case 2: block = got(memalign(64, size), &sums.aligned); break;
	default: block = resize(got(malloc(1), &sums.mallocs), size); break;
	}
	give(block);
	__asm__ volatile("");
}

NOINLINE static void f1(unsigned how, size_t size)
{
	f0(how, size);
	__asm__ volatile("");
}

NOINLINE static void f2(unsigned how, size_t size)
{
	f1(how, size);
	__asm__ volatile("");
}

NOINLINE static void f3(unsigned how, size_t size)
{
	f2(how, size);
	__asm__ volatile("");
}

/* main < f3 < f2 < f1 < f0 < one of four calls, of 1000 bytes. */
static void chain(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		f3(i, 1000);
}

/* ---- others -------------------------------------------------------------------------- */

/* A child that allocates: none of that is the parent's. */
static void forked(unsigned count)
{
	pid_t pid = fork();

	if (pid == 0) {
		mixed(count);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	mixed(count);
}

static void *small_thread(void *arg)
{
	const unsigned *count = arg;

	for (unsigned i = 0; i < *count; i++)
		f3(i, 1000);
	return NULL;
}

/* Threads with 16 KiB of stack, one after the other. */
static void small(unsigned count)
{
	pthread_attr_t attr;
	pthread_t thread;
	unsigned each = count / 10;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (unsigned i = 0; i < 10; i++) {
		if (pthread_create(&thread, &attr, small_thread, &each))
			target_die("pthread_create");
		pthread_join(thread, NULL);
	}
}

/* Dies in the middle. */
static void killed(unsigned count)
{
	chain(count);
	kill(getpid(), SIGKILL);
}

static void on_signal(int number)
{
	(void)number;
	give(got(malloc(3000), &sums.mallocs));
}

static void signal_stack(unsigned count)
{
	static char stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = on_signal,
					  .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (unsigned i = 0; i < count; i++)
		raise(SIGUSR2);
}

/* Fails, again and again. */
static void fails(unsigned count)
{
	void *block = got(malloc(100), &sums.mallocs);

	for (unsigned i = 0; i < count; i++) {
		if (malloc(PTRDIFF_MAX) || realloc(block, PTRDIFF_MAX))
			target_die("malloc");
	}
	give(block);
}

static void report(void)
{
	char text[256];
	int n = snprintf(
		text, sizeof(text), "%llu %llu %llu %llu %llu %llu %llu\n",
		(unsigned long long)sums.mallocs, (unsigned long long)sums.callocs,
		(unsigned long long)sums.aligned, (unsigned long long)sums.reallocs,
		(unsigned long long)sums.frees, (unsigned long long)sums.allocated,
		(unsigned long long)sums.freed);

	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		target_die("write");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned count);
	} modes[] = {
		{ "mixed", mixed },	    { "chain", chain },	  { "forked", forked },
		{ "small", small },	    { "killed", killed }, { "fails", fails },
		{ "signal", signal_stack },
	};
	const unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;

	alarm(TARGET_LIFETIME);
	/* exec COUNT: as mixed, after another program of the same process. */
	if (argc > 2 && strcmp(argv[1], "exec") == 0) {
		mixed(count);
		execl(argv[0], argv[0], "mixed", argv[2], (char *)NULL);
		target_die(argv[0]);
	}
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			modes[i].run(count);
	report();
	return 0;
}
