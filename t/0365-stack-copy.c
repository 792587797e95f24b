/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a stack is copied, learned from what its walks need: never above the limit. And
 * where the copies go. */
#include "lib/tap.h"

#include "capture/stack-copy.h"

#define MOST (512u << 10)
#define SAMPLES 3000

static size_t total(const struct pmp_watch *watch)
{
	size_t sum = 0;

	for (size_t i = 0; i < watch->range_count; i++)
		sum += watch->ranges[i].want;
	return sum;
}

/* A stack without end: each walk needs all that has been copied of each piece. */
static size_t learn(struct pmp_watch *watch)
{
	size_t most = 0;

	for (int n = 0; n < SAMPLES; n++) {
		struct pmp_stack_reader reader = { 0 };

		for (size_t i = 0; i < watch->range_count; i++)
			reader.used[i] = watch->ranges[i].want;
		pmp_stack_learn(watch, &reader);
		if (total(watch) > most)
			most = total(watch);
	}
	return most;
}

/* Two threads, of which the first holds a lock. */
static void test_prepare(void)
{
	struct pmp_watch holder = { .lock = 0x5004,
				    .range_count = 1,
				    .ranges[0].want = 8 };
	struct pmp_watch other = { .range_count = 1, .ranges[0].want = 8 };
	const struct pmp_work works[] = { { .watch = &holder }, { .watch = &other } };
	struct pmp_workspace workspace = { 0 };
	struct pmp_stop_request requests[2];
	const struct pmp_range *lock = &requests[0].lock;
	uint64_t first = pmp_futex_first(holder.lock);

	is_int(pmp_stack_prepare(&workspace, works, requests, 2), 0, "two threads");
	ok(lock->address == first && lock->want == PMP_FUTEX_BYTES &&
		   first + 4 <= holder.lock && first + PMP_FUTEX_BYTES > holder.lock + 4,
	   "what is around the word of a lock is copied as well");
	ok(lock->data == requests[0].ranges[0].data + 8 &&
		   requests[1].ranges[0].data == lock->data + PMP_FUTEX_BYTES &&
		   workspace.copies_size == 2 * 8 + PMP_FUTEX_BYTES,
	   "each copy has a place of its own");
	is_int((long)requests[1].lock.want, 0,
	       "a thread that holds none has no such copy");
	free(workspace.copies);
}

#define DEEP 1000
#define ALL ((size_t)64 << 20) /* of what is copied while all threads are held */

/* Many threads at once, the second half of them deep. */
static void test_share(void)
{
	struct pmp_watch small = { .range_count = 1, .ranges[0].want = 8 << 10 };
	struct pmp_watch deep = { .range_count = 2,
				  .ranges[0].want = MOST / 2,
				  .ranges[1].want = MOST / 2 };
	struct pmp_work *works = calloc(2 * DEEP, sizeof(*works));
	struct pmp_stop_request *requests = calloc(2 * DEEP, sizeof(*requests));
	struct pmp_workspace workspace = { 0 };
	struct pmp_stop_request *last = &requests[2 * DEEP - 1];
	struct pmp_stack_reader reader = { .request = requests };
	unsigned cut = 0;

	if (!works || !requests)
		abort();
	for (size_t i = 0; i < 2 * DEEP; i++)
		works[i].watch = i < DEEP ? &small : &deep;
	is_int(pmp_stack_prepare(&workspace, works, requests, 2 * DEEP), 0,
	       "many threads");
	ok(workspace.copies_size <= ALL && workspace.copies_size > ALL - ALL / 8,
	   "copies have their limit: %zu bytes", workspace.copies_size);
	for (size_t i = 0; i < 2 * DEEP; i++)
		cut += requests[i].cut;
	is_int(cut, DEEP, "only the deep ones are cut");
	is_int((long)requests[0].ranges[0].want, 8 << 10, "small ones are whole");
	ok(last->range_count == 1 && last->ranges[0].want > 32 << 10 &&
		   last->ranges[0].data + last->ranges[0].want <=
			   workspace.copies + workspace.copies_size,
	   "of a deep one there is a part: %zu bytes", last->ranges[0].want);
	reader.request = last;
	ok(!pmp_stack_want_more(NULL, &deep, &reader),
	   "to stop them once more would not give more");
	is_int(pmp_stack_prepare(&workspace, works + DEEP, requests, 1), 0, "one thread");
	ok(!requests->cut && requests->range_count == 2, "is not cut");
	free(workspace.copies);
	free(requests);
	free(works);
}

int main(void)
{
	struct pmp_watch one = { .range_count = 1, .ranges[0].want = MOST };
	struct pmp_watch two = { .range_count = 2 };
	struct pmp_watch less = { .range_count = 1, .ranges[0].want = 100 << 10 };
	struct pmp_stack_reader reader = { .used = { 20 << 10 } };

	is_int((long)learn(&one), MOST, "one piece");
	two.ranges[0].want = two.ranges[1].want = MOST / 2;
	is_int((long)learn(&two), MOST, "two pieces");
	is_int((long)two.range_count, 2, "both are kept");
	pmp_stack_learn(&less, &reader);
	is_int((long)less.ranges[0].want, 21 << 10, "what is needed, and a margin");
	test_prepare();
	test_share();
	return done_testing();
}
