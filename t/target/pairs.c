/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs [FILE [THREADS MS]]: threads that reach syscall(), at the same depth, by two ways that they
 * choose by chance: outer_a inner_a or outer_b inner_b, and from there by sleep_read,
 * sleep_poll or sleep_futex. pc and sp are the same on all. Half of the threads go at
 * full speed, the others sleep for up to some milliseconds; or so many THREADS, all of
 * which sleep, for up to MS milliseconds, and between two wakeups none runs. What is true at each moment is in FILE (pairs.h).
 *
 * Verdict: that all have moved; the number of turns is printed.
 */
#include "target.h"
#include "pairs.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#define PAUSE_MAX 8000000 /* ns that a slow thread sleeps */
#define PARTNER_PAUSE 20  /* ms between wakeups if all sleep: all stand still */
#define WORK_MAX 256	  /* turns of a loop */
#define WORK_LONG 300000  /* of a slow thread, now and then: to be met computing */

static struct traveller {
	unsigned index;
	int event;
	uint32_t gate; /* of the futex: 1 is open */
	uint64_t random;
	unsigned how; /* it sleeps */
	struct pollfd poll;
	uint64_t count;
	atomic_ullong wake; /* when; 0: it is not asleep */
} travellers[PAIRS_MOST];

static struct pairs_page *page;
static unsigned count = PAIRS_THREADS;
static uint64_t pause_max = PAUSE_MAX;
static bool all_slow;

/* Each in a section of its own, whose ends the linker knows. */
#define PLACE(name) NOINLINE __attribute__((section("place_" #name)))
#define ENDS(name) extern const char __start_place_##name[], __stop_place_##name[]
#define RANGE(name) \
	{ \
		(uintptr_t) __start_place_##name, (uintptr_t)__stop_place_##name \
	}
ENDS(outer_a);
ENDS(inner_a);
ENDS(outer_b);
ENDS(inner_b);
ENDS(sleep_read);
ENDS(sleep_poll);
ENDS(sleep_futex);

static uint64_t next_random(struct traveller *me)
{
	me->random ^= me->random << 13;
	me->random ^= me->random >> 7;
	me->random ^= me->random << 17;
	return me->random;
}

static void compute(unsigned turns)
{
	while (turns--)
		__asm__ volatile("" : : : "memory");
}

static void work(struct traveller *me)
{
	compute(next_random(me) % WORK_MAX);
}

static void set_word(const struct traveller *me, int state)
{
	unsigned long long word = page->threads[me->index].word;

	page->threads[me->index].word = (word & ~3ULL) | (unsigned)state;
}

static bool is_slow(const struct traveller *me)
{
	return all_slow || me->index % 2;
}

static void fall_asleep(struct traveller *me)
{
	uint64_t now = target_now();

	set_word(me, PAIRS_ASLEEP);
	me->wake = is_slow(me) ? now + next_random(me) % pause_max : now;
}

static int wake_up(struct traveller *me, int way)
{
	set_word(me, PAIRS_ON_WAY);
	work(me);
	return way;
}

static int PLACE(sleep_read) sleep_read(struct traveller *me, int way)
{
	fall_asleep(me);
	syscall(SYS_read, me->event, &me->count, sizeof me->count);
	return wake_up(me, way);
}

static int PLACE(sleep_poll) sleep_poll(struct traveller *me, int way)
{
	fall_asleep(me);
	syscall(SYS_ppoll, &me->poll, 1, NULL, NULL, 0);
	syscall(SYS_read, me->event, &me->count, sizeof me->count);
	return wake_up(me, way);
}

static int PLACE(sleep_futex) sleep_futex(struct traveller *me, int way)
{
	fall_asleep(me);
	while (!__atomic_exchange_n(&me->gate, 0, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &me->gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return wake_up(me, way);
}

static int (*const sleeps[])(struct traveller *me, int way) = { sleep_read, sleep_poll,
								sleep_futex };

#define SLEEPS (sizeof sleeps / sizeof *sleeps)

/* Equal but for a number, which keeps the compiler from making one of two. */
#define WAY(letter, number) \
	static int PLACE(inner_##letter) inner_##letter(struct traveller *me) \
	{ \
		work(me); \
		return sleeps[me->how](me, number) + (number); \
	} \
	static int PLACE(outer_##letter) outer_##letter(struct traveller *me) \
	{ \
		work(me); \
		return inner_##letter(me) + (number); \
	}
WAY(a, 1)
WAY(b, 2)

static void travel(void *arg)
{
	struct traveller *me = arg;
	atomic_ullong *word = &page->threads[me->index].word;

	page->threads[me->index].tid = gettid();
	for (;;) {
		bool b = next_random(me) >> 20 & 1;
		unsigned long long number = (*word >> 2 | 1) + 1 + b;

		me->how = (next_random(me) >> 20) % SLEEPS;
		*word = number << 2 | PAIRS_ON_WAY;
		if (b)
			outer_b(me);
		else
			outer_a(me);
		set_word(me, PAIRS_OUTSIDE);
		page->threads[me->index].turns++;
		compute(next_random(me) % (is_slow(me) ? WORK_LONG : WORK_MAX));
	}
}

static void wake(struct traveller *traveller)
{
	const uint64_t one = 1;

	traveller->wake = 0;
	if (sleeps[traveller->how] == sleep_futex) {
		__atomic_store_n(&traveller->gate, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &traveller->gate, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
			0);
	} else if (write(traveller->event, &one, sizeof one) != sizeof one) {
		target_die("write");
	}
}

static void partner(void *arg)
{
	for (;;) {
		uint64_t now = target_now();
		bool any = false;

		for (unsigned i = 0; i < count; i++) {
			uint64_t time = travellers[i].wake;

			if (!time || time > now)
				continue;
			wake(&travellers[i]);
			any = true;
		}
		if (!any && all_slow)
			target_nap(PARTNER_PAUSE);
		else if (!any)
			sched_yield();
	}
	(void)arg;
}

static void make_page(const char *path)
{
	const struct pairs_page begin = {
		.magic = PAIRS_MAGIC,
		.count = count,
		.functions = { RANGE(outer_a), RANGE(inner_a), RANGE(outer_b),
			       RANGE(inner_b), RANGE(sleep_read), RANGE(sleep_poll),
			       RANGE(sleep_futex) },
	};
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (path && (fd < 0 || ftruncate(fd, sizeof begin)))
		target_die(path);
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
		    path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (page == MAP_FAILED)
		target_die("mmap");
	*page = begin;
}

int main(int argc, char **argv)
{
	unsigned long long turns = 0;
	char name[16];

	target_begin();
	if (argc > 3) {
		count = (unsigned)atoi(argv[2]);
		pause_max = (uint64_t)atoi(argv[3]) * 1000000;
		all_slow = true;
	}
	if (count > PAIRS_MOST || !pause_max)
		target_die("usage: pairs [FILE [THREADS MS]]");
	make_page(argc > 1 ? argv[1] : NULL);
	for (unsigned i = 0; i < count; i++) {
		int event = eventfd(0, EFD_CLOEXEC);

		if (event < 0)
			target_die("eventfd");
		travellers[i] = (struct traveller){
			.index = i,
			.event = event,
			.poll = { .fd = event, .events = POLLIN },
			.random = (target_now() << 8) + i + 1,
		};
		snprintf(name, sizeof name, "way-%u", i);
		target_thread(name, travel, &travellers[i]);
	}
	target_thread("partner", partner, NULL);
	target_ready();
	target_wait_end();
	for (unsigned i = 0; i < count; i++) {
		if (!page->threads[i].turns)
			target_verdict("way-%u does not move", i);
		turns += page->threads[i].turns;
	}
	printf("turns %llu\n", turns);
	target_verdict(NULL);
}
