/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of a whole process by taskstats are those of its threads by schedstat. */
#include "lib/tap.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "proc/taskstats.h"
#include "proc/threads.h"
#include "lib/child.h"
#include "proc/open.h"

#define THREADS 50

static pid_t first_tid; /* of the threads, in the child */
static int gate[2];

static void *wait_at_gate(void *tid)
{
	char byte;

	if (tid)
		*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	while (read(gate[0], &byte, 1) < 0)
		;
	return NULL;
}

/* Threads that sleep; an order lets one of them end. */
static bool crowd(const struct child *self, void *arg)
{
	pthread_t threads[THREADS];
	bool good = pipe(gate) == 0;

	for (size_t i = 0; i < THREADS; i++)
		good &= pthread_create(&threads[i], NULL, wait_at_gate,
				       i ? NULL : &first_tid) == 0;
	child_answer(self, good);
	child_wait(self);
	(void)arg;
	return good && write(gate[1], "", 1) == 1;
}

/* Of all threads in the list, by schedstat; 0: not all could be read. */
static uint64_t sum_schedstat(const struct pmp_process *process, size_t *count)
{
	uint64_t sum = 0, cpu, runs;
	pid_t *tids = NULL;
	size_t capacity = 0;

	*count = 0;
	if (pmp_threads_list(process, &tids, &capacity, count) < 0)
		return 0;
	for (size_t i = 0; i < *count; i++) {
		char path[64], text[128];
		ssize_t got;
		int fd;

		snprintf(path, sizeof(path), "task/%d/schedstat", (int)tids[i]);
		fd = openat(process->proc, path, O_RDONLY | O_CLOEXEC);
		got = fd < 0 ? -1 : read(fd, text, sizeof(text));
		if (fd >= 0)
			close(fd);
		if (got <= 0 || !pmp_schedstat_parse(text, (size_t)got, &cpu, &runs))
			sum = 0;
		else
			sum += runs;
	}
	free(tids);
	return sum;
}

struct pair {
	const struct pmp_process *process;
	struct pmp_taskstats *stats;
	size_t threads; /* that there are to be */
	uint64_t by_schedstat, by_taskstats;
};

/* Once all of them sleep nothing moves any more. */
static bool are_equal(void *arg)
{
	struct pair *pair = arg;
	size_t count;

	pair->by_schedstat = sum_schedstat(pair->process, &count);
	return pmp_taskstats_runs(pair->stats, pair->process->pid, &pair->by_taskstats) &&
	       count == pair->threads && pair->by_schedstat == pair->by_taskstats;
}

/* One that ends stays in the sum. */
static bool has_grown(void *arg)
{
	struct pair *pair = arg;
	uint64_t before = pair->by_taskstats;
	size_t count;

	pair->by_schedstat = sum_schedstat(pair->process, &count);
	return count == pair->threads &&
	       pmp_taskstats_runs(pair->stats, pair->process->pid, &pair->by_taskstats) &&
	       pair->by_taskstats > pair->by_schedstat && pair->by_taskstats == before;
}

static void check_sums(struct pmp_taskstats *stats)
{
	struct child child = { 0 };
	struct pmp_process process;
	struct pair pair = { .process = &process,
			     .stats = stats,
			     .threads = THREADS + 1 };
	uint64_t first;
	bool good;

	if (!ok(child_start(&child, crowd, NULL) &&
			pmp_process_open(child.pid, &process, NULL) == 0,
		"a process with %d threads", THREADS + 1))
		return;
	good = wait_until(are_equal, &pair);
	ok(good, "%" PRIu64 " runs by schedstat, %" PRIu64 " in all", pair.by_schedstat,
	   pair.by_taskstats);
	first = pair.by_taskstats;
	ok(child_order(&child), "one of them ends");
	pair.threads--;
	good = wait_until(has_grown, &pair);
	ok(good && pair.by_taskstats > first,
	   "its runs stay: %" PRIu64 ", %" PRIu64 " of those that are left, %" PRIu64
	   " before",
	   pair.by_taskstats, pair.by_schedstat, first);
	pmp_process_close(&process);
	child_end(&child);
	ok(!pmp_taskstats_runs(stats, child.pid, &first), "no answer when it has ended");
	ok(pmp_taskstats_runs(stats, getpid(), &first) && first > 0,
	   "and the next question has one");
}

int main(void)
{
	struct pmp_taskstats stats = { .fd = -1 };
	uint64_t runs;

	pmp_taskstats_close(&stats);
	if (!pmp_taskstats_open(&stats) || !pmp_taskstats_runs(&stats, getpid(), &runs)) {
		ok(errno != 0, "taskstats are not for us here");
		pmp_taskstats_close(&stats);
		return done_testing();
	}
	check_sums(&stats);
	pmp_taskstats_close(&stats);
	ok(!pmp_taskstats_runs(&stats, getpid(), &runs), "none when it is closed");
	return done_testing();
}
