/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * edges PID FILE EDGES ROUNDS SECONDS: does target/race.c wait for whom pmp says?
 *
 * Captures it without a pause, until there were so many edges and captures, or the time
 * is over, which is longer as long as there was not a tenth of them. An edge is a thread
 * whose wait names a holder. It is true if there was an instant, not before the capture,
 * at which the one waited for that lock and the other held it, by the times that they
 * have written into FILE. These may come late: an edge is judged when they are there.
 * Prints the sums; the status is 1 if any edge is false, or any thread in a deadlock or
 * waiting for one that has ended: in that program none does.
 */
#include "base/clock.h"
#include "libpmp.h"
#include "sample.h"
#include "../target/race.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FALSE_SHOWN 3
#define TIMES_MAX 10	   /* as long, on a busy machine */
#define OPEN_MAX 4096	   /* edges that are not judged yet */
#define OPEN_LONGEST PMP_S /* ns that one may take */
#define NONE UINT64_MAX	   /* a time that has not come */

enum truth { TRUE, FALSE, OPEN, LOST };

struct edge {
	unsigned waiter, holder, lock; /* numbers in the page */
	bool queued;		       /* the holder is a writer that is the next one */
	uint64_t first, last;	       /* when the capture began and ended */
	struct pmp_wait wait;
	enum pmp_obtained obtained;
};

static struct {
	unsigned long long rounds, peeks, unchanged, edges, kept, queued, shared, free;
	unsigned long long wrong, lost, others, ended, deadlocks;
} sums;

static const struct race_page *page;
static struct edge open_edges[OPEN_MAX];
static size_t open_count;

static const struct race_page *open_page(const char *path)
{
	const struct race_page *new;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	new = mmap(NULL, sizeof(*new), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return new != MAP_FAILED &&new->magic == RACE_MAGIC ? new : NULL;
}

/* ---- what the threads have written ----------------------------------------------- */

/* A turn as it was at one moment; of a time that has not come, NONE. */
struct turn {
	uint64_t request, acquire, release;
	unsigned lock, how;
};

static uint64_t or_none(uint64_t time)
{
	return time ? time : NONE;
}

/* False: it has been overwritten. */
static bool read_turn(unsigned thread, unsigned long long number, struct turn *turn)
{
	const struct race_turn *from = &page->threads[thread].turns[number % RACE_TURNS];

	if (from->number != number)
		return false;
	/* It is not released before it is acquired: read the other way round. */
	turn->release = or_none(from->release);
	turn->acquire = or_none(from->acquire);
	turn->request = from->request;
	turn->lock = from->lock;
	turn->how = from->how;
	return from->number == number;
}

/* Of a thread, from the last one back to one that was over at a time: no more than two
 * locks are held at once. */
struct turns {
	unsigned thread;
	unsigned long long number;
	unsigned before;
};

static struct turns turns_of(unsigned thread)
{
	return (struct turns){ thread, page->threads[thread].last, 0 };
}

/* TRUE: the next one; FALSE: that was all; or LOST. */
static enum truth next_turn(struct turns *turns, uint64_t time, struct turn *turn)
{
	if (!turns->number || turns->before == 2)
		return FALSE;
	if (!read_turn(turns->thread, turns->number, turn))
		return LOST;
	turns->number--;
	turns->before += turn->request < time;
	return TRUE;
}

/* ---- one edge ---------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Has the one waited while this was the other's turn? The kernel gives locks that inherit
 * priorities to a waiter before that runs and can write it. */
static enum truth meet(const struct edge *edge, const struct turn *wait,
		       const struct turn *hold)
{
	bool given = (edge->queued && !(hold->how & RACE_TRIES)) ||
		     page->locks[edge->lock].kind == RACE_INHERIT;
	uint64_t begin = given ? hold->request : hold->acquire;
	uint64_t from = larger(wait->request, edge->first);
	uint64_t to = smaller(wait->acquire, hold->release);

	if (hold->lock != edge->lock || hold->request > edge->last ||
	    hold->how & RACE_READS)
		return FALSE;
	if (hold->acquire == NONE && hold->release != NONE)
		return FALSE; /* tried in vain */
	if (begin != NONE)
		return larger(from, begin) <= to ? TRUE : FALSE;
	return larger(from, hold->request) <= to ? OPEN : FALSE;
}

static enum truth judge_wait(const struct edge *edge, const struct turn *wait)
{
	struct turns turns = turns_of(edge->holder);
	enum truth truth = FALSE, more;
	struct turn hold;

	while ((more = next_turn(&turns, edge->first, &hold)) == TRUE) {
		enum truth this = meet(edge, wait, &hold);

		if (this == TRUE)
			return TRUE;
		if (this == OPEN)
			truth = OPEN;
	}
	return more == LOST ? LOST : truth;
}

static enum truth judge(const struct edge *edge)
{
	struct turns turns = turns_of(edge->waiter);
	enum truth truth = FALSE, more;
	struct turn wait;

	while ((more = next_turn(&turns, edge->first, &wait)) == TRUE) {
		enum truth this;

		/* Its rwlocks prefer readers: these wait for no writer in a queue. */
		if (wait.lock != edge->lock || wait.how & RACE_TRIES ||
		    (edge->queued && wait.how & RACE_READS) ||
		    wait.request > edge->last || wait.acquire < edge->first)
			continue;
		this = judge_wait(edge, &wait);
		if (this == TRUE || this == LOST)
			return this;
		if (this == OPEN)
			truth = OPEN;
	}
	return more == LOST ? LOST : truth;
}

/* ---- those of a capture ----------------------------------------------------------- */

static void show_turns(const char *who, const struct edge *edge, unsigned thread)
{
	struct turns turns = turns_of(thread);
	struct turn turn;

	while (next_turn(&turns, edge->first, &turn) == TRUE)
		if (turn.lock == edge->lock && turn.request <= edge->last)
			printf("#   %s: how %u, request %lld acquire %lld release %lld\n",
			       who, turn.how, (long long)(turn.request - edge->first),
			       (long long)(turn.acquire - edge->first),
			       (long long)(turn.release - edge->first));
}

static void show(const struct edge *edge)
{
	if (sums.wrong > FALSE_SHOWN)
		return;
	printf("# lock %u, kind %u: racer-%u waits for racer-%u (wait of kind %u, holder "
	       "is %u, flags %#x), obtained %d, in %llu ns\n",
	       edge->lock, page->locks[edge->lock].kind, edge->waiter, edge->holder,
	       edge->wait.kind, edge->wait.holder_is, edge->wait.flags,
	       (int)edge->obtained, (unsigned long long)(edge->last - edge->first));
	show_turns("waiter", edge, edge->waiter);
	show_turns("holder", edge, edge->holder);
}

/* false: it has to be judged later. */
static bool settle(const struct edge *edge, uint64_t now)
{
	switch (judge(edge)) {
	case TRUE: break;
	case FALSE:
		sums.wrong++;
		show(edge);
		break;
	case OPEN:
		if (now - edge->last < OPEN_LONGEST)
			return false;
		sums.lost++;
		break;
	case LOST: sums.lost++; break;
	}
	return true;
}

static void settle_open(void)
{
	uint64_t now = pmp_clock();
	size_t left = 0;

	for (size_t i = 0; i < open_count; i++)
		if (!settle(&open_edges[i], now))
			open_edges[left++] = open_edges[i];
	open_count = left;
}

static bool find_racer(pid_t tid, unsigned *racer)
{
	for (*racer = 0; *racer < RACE_THREADS; ++*racer)
		if (page->threads[*racer].tid == tid)
			return true;
	return false;
}

static bool find_lock(uint64_t address, unsigned *lock)
{
	for (*lock = 0; *lock < RACE_LOCKS; ++*lock)
		if (page->locks[*lock].address == address)
			return true;
	return false;
}

static bool is_edge(const struct pmp_wait *wait)
{
	return wait->flags & PMP_WAIT_PROVEN && (wait->holder_is == PMP_HOLDER_THREAD ||
						 wait->holder_is == PMP_HOLDER_SELF);
}

static void see_edge(const struct pmp_thread *thread, uint64_t first, uint64_t last)
{
	const struct pmp_wait *wait = &thread->wait;
	struct edge *edge = &open_edges[open_count];

	if (open_count == OPEN_MAX) {
		sums.lost++;
		return;
	}
	*edge = (struct edge){
		.first = first, .last = last, .wait = *wait, .obtained = thread->obtained
	};
	edge->queued = wait->flags & PMP_WAIT_QUEUED;
	sums.edges++;
	sums.kept += thread->obtained == PMP_UNCHANGED;
	sums.queued += edge->queued;
	if (find_racer(thread->tid, &edge->waiter) &&
	    find_racer(wait->holder, &edge->holder) &&
	    find_lock(wait->object, &edge->lock)) {
		open_count++;
		return;
	}
	if (page->mortal) {
		sums.lost++;
		return;
	}
	sums.wrong++;
	printf("# %s waits for %d, which is none of its threads\n", thread->name,
	       (int)wait->holder);
}

/* It has no others; but who makes a thread takes a mutex of the dynamic linker
 * (_dl_load_tls_lock), and mortals wait for each other there. */
static void see_lock(const struct pmp_thread *thread)
{
	const struct pmp_wait *wait = &thread->wait;
	unsigned lock;

	if (!(wait->flags & PMP_WAIT_PROVEN) || wait->kind == PMP_WAIT_FUTEX ||
	    find_lock(wait->object, &lock))
		return;
	if (page->mortal && wait->kind == PMP_WAIT_MUTEX) {
		sums.others++;
		return;
	}
	sums.wrong++;
	if (sums.wrong <= FALSE_SHOWN)
		printf("# %s waits for %#llx, of kind %u\n", thread->name,
		       (unsigned long long)wait->object, wait->kind);
}

static int run_round(struct pmp_target *target)
{
	uint64_t first = pmp_clock(), last;
	struct pmp_sample *sample;

	if (pmp_target_capture(target, &sample, NULL) < 0)
		return -1;
	last = pmp_clock();
	sums.rounds++;
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		sums.peeks += thread->obtained == PMP_PEEKED;
		sums.unchanged += thread->obtained == PMP_UNCHANGED;
		sums.deadlocks += (thread->wait.flags & PMP_WAIT_DEADLOCK) != 0;
		sums.ended += thread->wait.holder_is == PMP_HOLDER_ENDED;
		sums.free += thread->wait.holder_is == PMP_HOLDER_FREE;
		sums.shared += thread->wait.holder_is == PMP_HOLDER_NONE &&
			       thread->wait.count > 0;
		see_lock(thread);
		if (is_edge(&thread->wait))
			see_edge(thread, first, last);
	}
	pmp_sample_free(sample);
	settle_open();
	return 0;
}

/* Those that are open have a second. */
static void settle_rest(void)
{
	while (open_count) {
		usleep(1000);
		settle_open();
	}
}

/* A tenth of each. */
static bool has_share(unsigned long long edges, unsigned long long rounds)
{
	return sums.edges - sums.lost >= edges / 10 && sums.rounds >= rounds / 10;
}

int main(int argc, char **argv)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .stop = PMP_STOP_NEVER };
	unsigned long long edges, rounds;
	struct pmp_target *target;
	struct pmp_error err;
	uint64_t begin, time;

	page = argc == 6 ? open_page(argv[2]) : NULL;
	if (!page)
		return 2;
	if (pmp_target_open(atoi(argv[1]), &options, &target, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	edges = strtoull(argv[3], NULL, 10);
	rounds = strtoull(argv[4], NULL, 10);
	time = strtoull(argv[5], NULL, 10) * PMP_S;
	begin = pmp_clock();
	while ((sums.edges < edges || sums.rounds < rounds) &&
	       pmp_clock() - begin <
		       (has_share(edges, rounds) ? time : TIMES_MAX * time) &&
	       run_round(target) == 0)
		;
	settle_rest();
	pmp_target_close(target);
	printf("rounds %llu peeks %llu unchanged %llu edges %llu kept %llu queued %llu "
	       "shared %llu free %llu lost %llu others %llu false %llu ended %llu deadlocks %llu\n",
	       sums.rounds, sums.peeks, sums.unchanged, sums.edges, sums.kept,
	       sums.queued, sums.shared, sums.free, sums.lost, sums.others, sums.wrong,
	       sums.ended, sums.deadlocks);
	return sums.wrong || sums.ended || sums.deadlocks;
}
