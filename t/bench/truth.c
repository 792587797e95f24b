/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth PID FILE SECONDS MICROSECONDS: do stacks show what target/pairs.c does?
 *
 * Samples it again and again, that often, and up to TIMES_MAX as long until it has met
 * enough in each way. The state that a thread tells in FILE is read
 * before and behind each capture; where it is the same, the thread was in that state all
 * the time between, whatever else it did. Prints the sums; the status is 1 if any stack
 * is wrong.
 */
#include "capture/target.h"
#include "libpmp.h"
#include "sample.h"
#include "../target/pairs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WRONG_SHOWN 3
#define TIMES_MAX 5
#define ENOUGH 200
#define ON_WAY_A (1u << PAIRS_OUTER_A | 1u << PAIRS_INNER_A)
#define ON_WAY_B (1u << PAIRS_OUTER_B | 1u << PAIRS_INNER_B)
#define SLEEPS (1u << PAIRS_READ | 1u << PAIRS_POLL | 1u << PAIRS_FUTEX)
#define ANYWHERE 3 /* in place of a state: it has changed */

static struct {
	unsigned long long stopped, peeked, unchanged, incomplete, moved, wrong;
	unsigned long long rested; /* captures that asked for many at once */
	unsigned long long still;  /* those in the same standstill as the one before */
} sums;

static uint64_t now_us(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static const struct pairs_page *open_page(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct pairs_page *page =
		fd < 0 ? MAP_FAILED
		       : mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	return page == MAP_FAILED || page->magic != PAIRS_MAGIC ||
			       page->count > PAIRS_MOST
		       ? NULL
		       : page;
}

/* The functions on the stack, a bit for each. A return address may be the end of one. */
static unsigned functions_on(const struct pairs_page *page,
			     const struct pmp_sample *sample,
			     const struct pmp_thread *thread)
{
	unsigned found = 0;

	for (size_t i = 0; i < thread->frame_count; i++) {
		const struct pmp_raw_frame *frame = &sample->frames[thread->frame + i];
		uint64_t pc = frame->pc - !(frame->flags & PMP_FRAME_EXACT);

		for (unsigned f = 0; f < PAIRS_FUNCTIONS; f++)
			if (pc >= page->functions[f].start && pc < page->functions[f].end)
				found |= 1u << f;
	}
	return found;
}

/* Is this system call made by that function? */
static bool calls(int number, unsigned function)
{
	switch (number) {
	case SYS_read: return function == PAIRS_READ || function == PAIRS_POLL;
	case SYS_ppoll: return function == PAIRS_POLL;
	case SYS_futex: return function == PAIRS_FUTEX;
	default: return true;
	}
}

/* Can this be the stack of a thread that says that of itself? */
static bool is_true(unsigned long long word, unsigned found,
		    const struct pmp_thread *thread)
{
	unsigned way = word >> 2 & 1 ? ON_WAY_B : ON_WAY_A, sleep = found & SLEEPS;

	if ((found & ON_WAY_A && found & ON_WAY_B) || sleep & (sleep - 1))
		return false;
	if (sleep && !calls(thread->syscall, (unsigned)__builtin_ctz(sleep)))
		return false;
	switch (word & 3) {
	case PAIRS_OUTSIDE: return !found;
	case PAIRS_ON_WAY: return !(found & ~(way | SLEEPS));
	case PAIRS_ASLEEP:
		return thread->end == PMP_END_ROOT ? sleep && found == (way | sleep)
						   : !(found & ~(way | SLEEPS));
	default: return true;
	}
}

static void show(const struct pmp_sample *sample, const struct pmp_thread *thread,
		 unsigned long long word, unsigned found)
{
	if (sums.wrong > WRONG_SHOWN)
		return;
	printf("# %s says %llu on way %c; obtained %d, state %c, call %d, "
	       "functions %#x\n",
	       thread->name, word & 3, word >> 2 & 1 ? 'b' : 'a', (int)thread->obtained,
	       thread->state, thread->syscall, found);
	for (size_t i = 0; i < thread->frame_count; i++)
		printf("#   %#llx\n",
		       (unsigned long long)sample->frames[thread->frame + i].pc);
}

static void show_incomplete(const struct pmp_thread *thread)
{
	if (sums.incomplete <= WRONG_SHOWN)
		printf("# %s: state %c, obtained %d, %s%s%s, %zu frames\n", thread->name,
		       thread->state, (int)thread->obtained, pmp_end_text(thread->end),
		       thread->reason[0] ? ": " : "", thread->reason,
		       thread->frame_count);
}

static void judge(const struct pairs_page *page, const struct pmp_sample *sample,
		  const struct pmp_thread *thread, unsigned long long word)
{
	unsigned found = functions_on(page, sample, thread);

	if (thread->end != PMP_END_ROOT) {
		sums.incomplete++;
		show_incomplete(thread);
	}
	switch (thread->obtained) {
	case PMP_STOPPED: sums.stopped++; break;
	case PMP_PEEKED: sums.peeked++; break;
	case PMP_UNCHANGED: sums.unchanged++; break;
	default: break;
	}
	if (is_true(word, found, thread))
		return;
	sums.wrong++;
	show(sample, thread, word, found);
}

static int run_round(const struct pairs_page *page, struct pmp_target *target)
{
	unsigned long long before[PAIRS_MOST], after[PAIRS_MOST];
	static uint64_t still; /* of the sample before */
	struct pmp_sample *sample;

	for (uint64_t i = 0; i < page->count; i++)
		before[i] = page->threads[i].word;
	if (pmp_target_capture(target, &sample, NULL) < 0)
		return -1;
	sums.rested = target->idle_set.proofs;
	sums.still += still && sample->standstill.number == still;
	still = sample->standstill.number;
	for (uint64_t i = 0; i < page->count; i++)
		after[i] = page->threads[i].word;
	for (size_t t = 0; t < sample->thread_count; t++) {
		for (uint64_t i = 0; i < page->count; i++) {
			if (page->threads[i].tid != sample->threads[t].tid)
				continue;
			sums.moved += before[i] != after[i];
			judge(page, sample, &sample->threads[t],
			      before[i] == after[i] ? before[i] : ANYWHERE);
		}
	}
	pmp_sample_free(sample);
	return 0;
}

static bool has_enough(void)
{
	return sums.stopped > ENOUGH && sums.peeked > ENOUGH && sums.unchanged > ENOUGH;
}

int main(int argc, char **argv)
{
	const struct pmp_target_options options = { .size = sizeof(options) };
	const struct pairs_page *page = argc == 5 ? open_page(argv[2]) : NULL;
	struct pmp_target *target;
	struct pmp_error err;
	uint64_t time, start;

	if (!page)
		return 2;
	if (pmp_target_open(atoi(argv[1]), &options, &target, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	time = strtoul(argv[3], NULL, 10) * 1000000;
	start = now_us();
	while (now_us() - start < (has_enough() ? time : time * TIMES_MAX) &&
	       run_round(page, target) == 0)
		usleep((useconds_t)strtoul(argv[4], NULL, 10));
	if (target->idle_set.unusable)
		printf("# no taskstats here\n");
	pmp_target_close(target);
	printf("stopped %llu peeked %llu unchanged %llu incomplete %llu moved %llu wrong %llu "
	       "rested %llu still %llu\n",
	       sums.stopped, sums.peeked, sums.unchanged, sums.incomplete, sums.moved,
	       sums.wrong, sums.rested, sums.still);
	return sums.wrong != 0;
}
