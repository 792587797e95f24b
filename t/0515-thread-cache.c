/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that have not run since their last sample, found by the number of its reading. */
#include "tally/thread-cache.h"

#include "tap.h"

#define THREADS 5

static struct pmp_thread threads[THREADS];
static struct pmp_sample sample = { .pid = 4100,
				    .threads = threads,
				    .thread_count = THREADS };

/* A sample of threads 10, 20, ...; those whose bit is set have not run. Returns the
 * entries that were found, as decimal digits; 9: not found. */
static unsigned add(struct pmp_thread_cache *cache, unsigned unchanged, uint64_t reading)
{
	unsigned found = 0;

	pmp_thread_cache_begin(cache, &sample);
	for (unsigned i = 0; i < THREADS; i++) {
		uint32_t entry;

		threads[i].tid = (pid_t)(10 * (i + 1));
		threads[i].obtained = unchanged >> i & 1 ? PMP_UNCHANGED : PMP_PEEKED;
		if (!(unchanged >> i & 1))
			threads[i].reading = reading + i;
		if (!pmp_thread_cache_find(cache, &threads[i], &entry))
			entry = 9;
		found = found * 10 + entry;
		pmp_thread_cache_put(cache, &threads[i], entry == 9 ? i : entry);
	}
	return found;
}

/* How many threads of the last sample are in entries 0, 1, and so on: a digit for each. */
static uint64_t sums(struct pmp_thread_cache *cache)
{
	size_t count = 0;
	const struct pmp_counted *counted =
		pmp_thread_cache_counted(cache, sample.pid, &count);
	unsigned digits[10] = { 0 };
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		digits[counted[i].entry] += counted[i].threads;
	for (size_t i = 0; i < 10; i++)
		sum = sum * 10 + digits[i];
	return sum;
}

/* So many end that the places of the others move, while one of these is the last asked for. */
static void test_places(struct pmp_thread_cache *cache)
{
	for (sample.pid = 5000; sample.pid < 5200; sample.pid++)
		pmp_thread_cache_begin(cache, &sample);
	sample.pid = 4300;
	is_int(add(cache, 0, 300), 99999, "a process after many others");
	for (pid_t pid = 5000; pid < 5200; pid++)
		pmp_thread_cache_forget(cache, pid);
	is_int(add(cache, 0x1f, 0), 1234, "which all end: it is known");
	is_int(add(cache, 0, 400), 99999, "and has run");
	is_int(add(cache, 0, 500), 99999, "and once more");
	sample.pid = 4400;
	is_int(add(cache, 0x1f, 0), 99999, "another one comes");
	sample.pid = 4300;
	is_int(add(cache, 0x1f, 0), 1234, "this one is where it was");
}

int main(void)
{
	struct pmp_thread_cache *cache = pmp_thread_cache_new(false);
	uint32_t entry;

	is_int(add(cache, 0, 100), 99999, "nothing is known at first");
	is_int(add(cache, 0x1f, 0), 1234, "no thread has run: the entries of before");
	is_int(add(cache, 0x15, 200), 9294, "two have run");
	is_int(add(cache, 0x1f, 0), 1234, "and are known again");
	threads[2].reading++;
	is_int(add(cache, 0x1f, 0), 1934, "another reading is another stack");

	sample.pid = 4200;
	is_int(add(cache, 0x1f, 0), 99999, "another process has its own");
	sample.pid = 4100;
	is_int(add(cache, 0x1f, 0), 1234, "and this one still has");

	is_int(sums(cache), 1111100000, "one thread in each entry");
	sample.standstill.number = 7;
	is_int(add(cache, 0x1f, 0), 1234, "a standstill begins");
	threads[2].reading++;
	ok(pmp_thread_cache_is_still(cache, &sample), "it goes on");
	is_int(add(cache, 0x1f, 0), 1234, "then not even the readings are looked at");
	is_int(add(cache, 0x1f, 0), 1234, "however long it lasts");
	sample.standstill.number = 8;
	threads[2].reading++;
	ok(!pmp_thread_cache_is_still(cache, &sample), "another one is another one");
	is_int(add(cache, 0x1f, 0), 1934, "in which they are");
	pmp_thread_cache_renumber(cache, (uint32_t[]){ 4, 3, 2, 1, 0 });
	is_int(add(cache, 0x1f, 0), 43210, "entries have other numbers");
	is_int(sums(cache), 1111100000, "the sums of these");
	pmp_thread_cache_renumber(cache, (uint32_t[]){ 2, 0, 2, 0, 2 });
	is_int(sums(cache), 2030000000, "some are one now");
	is_int(add(cache, 0x1f, 0), 20202, "as the threads are found");
	sample.standstill.number = 0;

	sample.thread_count = 0;
	pmp_thread_cache_begin(cache, &sample);
	sample.thread_count = THREADS;
	is_int(add(cache, 0x1f, 0), 99999, "threads that were gone are new");

	pmp_thread_cache_begin(cache, &sample);
	ok(!pmp_thread_cache_find(cache, &threads[4], &entry) ||
		   !pmp_thread_cache_find(cache, &threads[0], &entry),
	   "out of order less is found, and nothing wrong");
	test_places(cache);
	pmp_thread_cache_free(cache);
	pmp_thread_cache_free(NULL);
	return done_testing();
}
