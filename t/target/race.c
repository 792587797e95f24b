/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race FILE [mutexes|rwlocks|kinds|mortals [US]]: 12 threads at full speed for 8 locks. Each
 * takes any one, and while it holds that a second one: it waits for those that come
 * later in the order, and only tries those that come before, so that there is never a
 * deadlock, though it often looks like one. Now and then it sleeps while it holds them,
 * for up to so many microseconds. With "kinds" there are also robust mutexes, such that
 * inherit priorities, and rwlocks; with "mortals" each thread ends soon, and a new one
 * takes its place. When each has asked for, got and released which is in FILE (race.h).
 *
 * Verdict: that all have moved; the number of turns is printed.
 */
#include "target.h"
#include "race.h"

#include <sys/mman.h>

#define WORK_MAX 512 /* turns of a loop */
#define LIFE 2	     /* times that a mortal takes two locks */

union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	char line[128];
};

static union lock locks[RACE_LOCKS] __attribute__((aligned(128)));
static struct race_page *page;
static unsigned nap_max = 60000; /* ns */

struct racer {
	unsigned index;
	uint64_t random;
};

static uint64_t next_random(struct racer *me)
{
	me->random ^= me->random << 13;
	me->random ^= me->random >> 7;
	me->random ^= me->random << 17;
	return me->random >> 11;
}

static void work(struct racer *me)
{
	uint64_t random = next_random(me);
	struct timespec nap = { 0, (long)(random / 4 % nap_max) };

	if (random % 4 == 0)
		nanosleep(&nap, NULL);
	else
		for (uint64_t i = random / 4 % WORK_MAX; i; i--)
			__asm__ volatile("" : : : "memory");
}

/* ---- one lock --------------------------------------------------------------------- */

static int take_rwlock(pthread_rwlock_t *rwlock, unsigned how)
{
	switch (how) {
	case RACE_WAITS: return pthread_rwlock_wrlock(rwlock);
	case RACE_TRIES: return pthread_rwlock_trywrlock(rwlock);
	case RACE_READS: return pthread_rwlock_rdlock(rwlock);
	default: return pthread_rwlock_tryrdlock(rwlock);
	}
}

static int take(unsigned lock, unsigned how)
{
	if (page->locks[lock].kind == RACE_RWLOCK)
		return take_rwlock(&locks[lock].rwlock, how);
	return how & RACE_TRIES ? pthread_mutex_trylock(&locks[lock].mutex)
				: pthread_mutex_lock(&locks[lock].mutex);
}

static void give(unsigned lock)
{
	int error = page->locks[lock].kind == RACE_RWLOCK
			    ? pthread_rwlock_unlock(&locks[lock].rwlock)
			    : pthread_mutex_unlock(&locks[lock].mutex);

	if (error)
		target_die("unlock");
}

static struct race_turn *new_turn(const struct racer *me, unsigned lock, unsigned how)
{
	unsigned long long number = page->threads[me->index].last + 1;
	struct race_turn *turn = &page->threads[me->index].turns[number % RACE_TURNS];

	turn->number = 0;
	turn->acquire = 0;
	turn->release = 0;
	turn->lock = lock;
	turn->how = how;
	turn->request = target_now();
	turn->number = number;
	page->threads[me->index].last = number;
	return turn;
}

/* NULL: it is held, and was only tried. */
static struct race_turn *begin_turn(struct racer *me, unsigned lock, unsigned how)
{
	struct race_turn *turn;
	int error;

	if (page->locks[lock].kind == RACE_RWLOCK && next_random(me) % 4 == 0)
		how |= RACE_READS;
	turn = new_turn(me, lock, how);
	error = take(lock, how);
	if (!error) {
		turn->acquire = target_now();
		return turn;
	}
	if (!(how & RACE_TRIES) || error != EBUSY) {
		errno = error;
		target_die("lock");
	}
	turn->release = target_now();
	return NULL;
}

static void end_turn(struct race_turn *turn)
{
	give(turn->lock);
	turn->release = target_now();
}

static void race(void *arg)
{
	struct racer *me = arg;

	page->threads[me->index].tid = gettid();
	for (unsigned turns = 0; !page->mortal || turns < LIFE; turns++) {
		unsigned lock = next_random(me) % RACE_LOCKS;
		unsigned more =
			(lock + 1 + next_random(me) % (RACE_LOCKS - 1)) % RACE_LOCKS;
		struct race_turn *first = begin_turn(me, lock, RACE_WAITS), *second;

		work(me);
		second = begin_turn(me, more, more > lock ? RACE_WAITS : RACE_TRIES);
		work(me);
		if (second)
			end_turn(second);
		end_turn(first);
	}
	target_thread("mortal", race, me);
}

/* ---- all of them ------------------------------------------------------------------- */

static enum race_kind kind_of(const char *what, unsigned i)
{
	if (strcmp(what, "rwlocks") == 0)
		return RACE_RWLOCK;
	return strcmp(what, "kinds") == 0 ? (enum race_kind)(i % 4) : RACE_MUTEX;
}

static void make_lock(unsigned i, enum race_kind kind)
{
	pthread_mutexattr_t attr;
	int error;

	page->locks[i].address = (uintptr_t)&locks[i];
	page->locks[i].kind = kind;
	pthread_mutexattr_init(&attr);
	if (kind == RACE_ROBUST)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (kind == RACE_INHERIT)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	error = kind == RACE_RWLOCK ? pthread_rwlock_init(&locks[i].rwlock, NULL)
				    : pthread_mutex_init(&locks[i].mutex, &attr);
	if (error)
		target_die("a lock");
	pthread_mutexattr_destroy(&attr);
}

static void make_page(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof *page))
		target_die(path);
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		target_die("mmap");
	close(fd);
}

int main(int argc, char **argv)
{
	static struct racer racers[RACE_THREADS];
	unsigned long long turns = 0;
	const char *what = argc > 2 ? argv[2] : "mutexes";
	char name[16];

	target_begin();
	if (argc > 3)
		nap_max = (unsigned)atoi(argv[3]) * 1000;
	if (argc < 2 || !nap_max)
		target_die("usage: race FILE [mutexes|rwlocks|kinds|mortals [US]]");
	make_page(argv[1]);
	page->mortal = strcmp(what, "mortals") == 0;
	for (unsigned i = 0; i < RACE_LOCKS; i++)
		make_lock(i, kind_of(what, i));
	for (unsigned i = 0; i < RACE_THREADS; i++) {
		racers[i] = (struct racer){ i, (target_now() << 8) + i + 1 };
		snprintf(name, sizeof name, "racer-%u", i);
		target_thread(name, race, &racers[i]);
	}
	page->magic = RACE_MAGIC;
	target_ready();
	target_wait_end();
	for (unsigned i = 0; i < RACE_THREADS; i++) {
		if (!page->threads[i].last)
			target_verdict("racer-%u does not move", i);
		turns += page->threads[i].last;
	}
	printf("turns %llu\n", turns);
	target_verdict(NULL);
}
