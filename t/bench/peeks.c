/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peeks PID COMPARISONS SECONDS [fresh]: are stacks that were read without a stop the
 * true ones?
 *
 * Each round peeks at all threads (--stop=never), then stops them all, and compares the
 * stacks of those that have slept from the peek to the stop: their number of times on a
 * processor was the same before the stop as at the peek, and is larger by just what a stop
 * adds after it. One that was woken right before its stop looks the same by that, so pc
 * and sp, which a peek has from the kernel, must be the same, too. With "fresh" nothing is
 * kept from one round to the next. Ends when so many have been compared or the time is
 * over, which is ten times as much until one has been. Prints the sums; the status is 1
 * if any stack differs.
 */
#include "libpmp.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STOP_ADDS 2 /* the thread runs to its stop, and away from it */
#define NAP 1000    /* us; after a stop, to go to sleep again */
#define NAPS 20

struct sums {
	unsigned long long peeked, unchanged, incomplete, same, different, moved;
};

static uint64_t runs_now(pid_t pid, pid_t tid)
{
	unsigned long long cpu, wait, runs = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu %llu", &cpu, &wait, &runs) != 3)
		runs = 0;
	fclose(file);
	return runs;
}

static void print_stack(const char *title, const struct pmp_sample *sample,
			const struct pmp_thread *thread)
{
	printf("# %s: end %d, sp %#llx\n", title, (int)thread->end,
	       (unsigned long long)thread->sp);
	for (size_t i = 0; i < thread->frame_count; i++)
		printf("#   %#llx\n",
		       (unsigned long long)sample->frames[thread->frame + i].pc);
}

static bool same_place(const struct pmp_sample *a, const struct pmp_thread *x,
		       const struct pmp_sample *b, const struct pmp_thread *y)
{
	return x->sp == y->sp && x->frame_count && y->frame_count &&
	       a->frames[x->frame].pc == b->frames[y->frame].pc;
}

static bool same_stack(const struct pmp_sample *a, const struct pmp_thread *x,
		       const struct pmp_sample *b, const struct pmp_thread *y)
{
	if (x->frame_count != y->frame_count)
		return false;
	for (size_t i = 0; i < x->frame_count; i++)
		if (a->frames[x->frame + i].pc != b->frames[y->frame + i].pc)
			return false;
	return true;
}

static const struct pmp_thread *find(const struct pmp_sample *sample, pid_t tid)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == tid)
			return &sample->threads[i];
	return NULL;
}

static void compare(const struct pmp_sample *peeks, const struct pmp_sample *stops,
		    const uint64_t *runs, struct sums *sums)
{
	for (size_t i = 0; i < stops->thread_count; i++) {
		const struct pmp_thread *stopped = &stops->threads[i];
		const struct pmp_thread *peeked = find(peeks, stopped->tid);

		if (!peeked || stopped->obtained != PMP_STOPPED)
			continue;
		sums->peeked += peeked->obtained == PMP_PEEKED;
		sums->unchanged += peeked->obtained == PMP_UNCHANGED;
		if (peeked->obtained == PMP_NOT_STOPPED) {
			sums->incomplete++;
		} else if (!peeked->runs || peeked->runs != stopped->runs ||
			   runs[i] != stopped->runs + STOP_ADDS ||
			   !same_place(peeks, peeked, stops, stopped)) {
			sums->moved++;
		} else if (same_stack(peeks, peeked, stops, stopped)) {
			sums->same++;
		} else {
			sums->different++;
			print_stack("peeked at", peeks, peeked);
			print_stack("stopped", stops, stopped);
		}
	}
}

/* Their numbers of runs, once all have run away from their stops. */
static void read_runs(pid_t pid, const struct pmp_sample *stops, uint64_t *runs)
{
	bool settled = false;

	for (int naps = 0; !settled && naps < NAPS; naps++) {
		settled = true;
		usleep(NAP);
		for (size_t i = 0; i < stops->thread_count; i++) {
			const struct pmp_thread *thread = &stops->threads[i];

			if (thread->obtained != PMP_STOPPED ||
			    runs[i] >= thread->runs + STOP_ADDS)
				continue;
			runs[i] = runs_now(pid, thread->tid);
			settled = settled && runs[i] >= thread->runs + STOP_ADDS;
		}
	}
}

static int open_target(pid_t pid, enum pmp_stop stop, struct pmp_target **target)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .stop = stop };
	struct pmp_error err;

	if (pmp_target_open(pid, &options, target, &err) == 0)
		return 0;
	fprintf(stderr, "%s\n", err.message);
	return -1;
}

static int run_round(pid_t pid, struct pmp_target *peeker, struct pmp_target *stopper,
		     struct sums *sums)
{
	struct pmp_sample *peeks = NULL, *stops = NULL;
	uint64_t *runs;

	if (pmp_target_capture(peeker, &peeks, NULL) < 0)
		return -1;
	if (pmp_target_capture(stopper, &stops, NULL) < 0) {
		pmp_sample_free(peeks);
		return -1;
	}
	runs = calloc(stops->thread_count + 1, sizeof(*runs));
	if (runs) {
		read_runs(pid, stops, runs);
		compare(peeks, stops, runs, sums);
	}
	free(runs);
	pmp_sample_free(peeks);
	pmp_sample_free(stops);
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pid = argc > 3 ? atoi(argv[1]) : 0;
	unsigned long comparisons = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	int limit = argc > 3 ? atoi(argv[3]) : 0;
	time_t start = time(NULL);
	bool fresh = argc > 4 && strcmp(argv[4], "fresh") == 0;
	struct pmp_target *peeker = NULL, *stopper = NULL;
	struct sums sums = { 0 };

	if (!pid || open_target(pid, PMP_STOP_NEVER, &peeker) ||
	    open_target(pid, PMP_STOP_ALL, &stopper))
		return 2;
	while (sums.same + sums.different < comparisons &&
	       time(NULL) - start <= (sums.same + sums.different ? limit : 10 * limit)) {
		if (run_round(pid, peeker, stopper, &sums) < 0)
			break;
		if (fresh) {
			pmp_target_close(peeker);
			if (open_target(pid, PMP_STOP_NEVER, &peeker))
				break;
		}
	}
	printf("peeked %llu unchanged %llu incomplete %llu same %llu different %llu moved %llu\n",
	       sums.peeked, sums.unchanged, sums.incomplete, sums.same, sums.different,
	       sums.moved);
	pmp_target_close(peeker);
	pmp_target_close(stopper);
	return sums.different != 0;
}
