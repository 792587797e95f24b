/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is inferred to have taken a lock, by leaving its queue: of mutexes, which name their
 * holders, it is the holder nearly always. */
#include "lib/tap.h"

#include <pthread.h>

#include "lib/child.h"
#include "sample.h"
#include "tally/wait-history.h"

#define THREADS 12
#define MUTEXES 3
#define CAPTURES 3000
#define ENOUGH 300 /* that were judged */
#define PAUSE 4000 /* us between captures */

static pthread_mutex_t mutexes[MUTEXES] = { PTHREAD_MUTEX_INITIALIZER,
					    PTHREAD_MUTEX_INITIALIZER,
					    PTHREAD_MUTEX_INITIALIZER };

static void *work(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (;;) {
		pthread_mutex_t *mutex = &mutexes[rand_r(&seed) % MUTEXES];

		pthread_mutex_lock(mutex);
		usleep(10000 + (unsigned)rand_r(&seed) % 20000);
		pthread_mutex_unlock(mutex);
		usleep((unsigned)rand_r(&seed) % 20000);
	}
	return NULL;
}

static bool start_threads(const struct child *self, void *arg)
{
	pthread_t thread;

	(void)self;
	(void)arg;
	for (uintptr_t i = 1; i <= THREADS; i++)
		if (pthread_create(&thread, NULL, work, (void *)i))
			return false;
	return true;
}

static struct {
	unsigned right, wrong, waits;
} sums;

/* Of each mutex once, by the first that waits for it. */
static void judge(const struct pmp_wait_history *history, const struct pmp_sample *sample)
{
	uint64_t judged[MUTEXES] = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_wait *wait = &sample->threads[i].wait;
		const struct pmp_taken_lock *taken =
			pmp_wait_history_taken(history, sample->threads[i].tid);
		bool done = false;

		sums.waits += wait->kind == PMP_WAIT_MUTEX;
		for (size_t k = 0; k < count; k++)
			done |= judged[k] == wait->object;
		if (done || !taken || wait->kind != PMP_WAIT_MUTEX ||
		    wait->holder_is != PMP_HOLDER_THREAD ||
		    !(wait->flags & PMP_WAIT_PROVEN) || count == MUTEXES)
			continue;
		judged[count++] = wait->object;
		if (taken->taker == wait->holder)
			sums.right++;
		else
			sums.wrong++;
	}
}

int main(void)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .no_wchan = true };
	struct pmp_wait_history history = { .pid = 1 };
	struct pmp_target *target;
	struct child child = { 0 };

	if (!child_start(&child, start_threads, NULL) ||
	    pmp_target_open(child.pid, &options, &target, NULL)) {
		ok(false, "a process with mutexes");
		return done_testing();
	}
	for (int i = 0; i < CAPTURES && sums.right + sums.wrong < ENOUGH; i++) {
		struct pmp_sample *sample;

		if (pmp_target_capture(target, &sample, NULL) < 0)
			break;
		if (pmp_wait_history_add(&history, sample))
			abort();
		judge(&history, sample);
		pmp_sample_free(sample);
		usleep(PAUSE);
	}
	diag("%u waits, %u inferred as it is, %u not", sums.waits, sums.right,
	     sums.wrong);
	ok(sums.right + sums.wrong >= ENOUGH / 10, "who left a queue is found");
	ok(sums.wrong * 20 <= sums.right + sums.wrong,
	   "it has the lock in 19 of 20 cases at least");
	pmp_wait_history_free(&history);
	pmp_target_close(target);
	child_end(&child);
	return done_testing();
}
