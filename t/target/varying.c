/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * varying: threads that wait in poll() below descend(), which calls itself LEVELS times
 * and moves the stack pointer by a size chosen by chance at each level. All sizes are
 * multiples of a frame's, so that a distance that was true for one stack leads into
 * another frame of the next.
 *
 * Verdict: that they have moved.
 */
#include "target.h"

#include <alloca.h>
#include <poll.h>

#define THREADS 8
#define LEVELS 6
#define SIZES 4 /* in frames */
#define PAUSE 3 /* ms, at most */

static atomic_ullong turns[THREADS];
static size_t frame_size;

/* The address of its frame tells how large one is; level 0 waits. */
static NOINLINE uintptr_t descend(int level, uint64_t random)
{
	char *space = alloca(random % SIZES * frame_size);
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	__asm__ volatile("" : : "r"(space) : "memory");
	if (level > 0)
		return frame - descend(level - 1, random / SIZES) + (space == NULL);
	if (frame_size)
		poll(NULL, 0, (int)(random % PAUSE));
	return frame;
}

/* As descend(1), without going on, to be measured. */
static void measure(void)
{
	frame_size = descend(1, 0) & ~(size_t)15;
}

static void vary(void *arg)
{
	atomic_ullong *mine = arg;
	uint64_t random = target_now() + (uintptr_t)arg;

	for (;;) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		descend(LEVELS - 1, random >> 8);
		++*mine;
	}
}

int main(void)
{
	target_begin();
	measure();
	for (int i = 0; i < THREADS; i++)
		target_thread("vary", vary, &turns[i]);
	target_ready();
	printf("frames of %zu bytes\n", frame_size);
	target_wait_end();
	for (int i = 0; i < THREADS; i++)
		if (!turns[i])
			target_verdict("a thread does not move");
	target_verdict(NULL);
}
