/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may upset the equation of resting.h, and why it does not:
 *
 *   A thread ends: it runs for that, so the sum grows by one at least. Its runs stay in
 *   the sum. While it ends it may be in it twice: too much is no proof.
 *   It ends and another one begins: the list of threads is the same no more, which is
 *   noticed by the next look at it; until then see above.
 *   The leader ends before the others: it stays in the list, and its last runs, on the
 *   way out, are in its own number but not in the sum. So it has to be alive.
 */
#include "capture/resting.h"

#include <stdio.h>

#include "base/fault.h"

#define REST_MIN 2		/* captures without a run, for each with one; */
#define REST_MAX 16		/* at most that many: then it rests */
#define WORTH 8			/* resting threads that are worth the question, if they */
				/* are more than the active ones, which are read twice */
#define PATH_SIZE 32		/* "task/TID/stat" */

void pmp_resting_close(struct pmp_resting *resting)
{
	if (resting->opened)
		pmp_taskstats_close(&resting->stats);
	*resting = (struct pmp_resting){ .unusable = true };
}

void pmp_resting_forget(struct pmp_resting *resting)
{
	resting->has_others = false;
	resting->sum = 0;
}

static bool rests(const struct pmp_watch *watch, uint64_t number)
{
	uint64_t quiet = number - watch->changed;

	return watch->proven && watch->last.mark.runs &&
	       (quiet > REST_MAX || quiet > watch->changes * REST_MIN);
}

static void divide(struct pmp_resting *resting, struct pmp_watches *watches, pid_t leader,
		   uint64_t number)
{
	resting->count = 0;
	resting->leader_rests = false;
	for (size_t i = 0; i < watches->count; i++) {
		struct pmp_watch *watch = watches->items[i];

		watch->rests = rests(watch, number);
		resting->count += watch->rests;
		resting->leader_rests |= watch->rests && watch->tid == leader;
	}
}

static uint64_t sum_resting(const struct pmp_watches *watches)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < watches->count; i++)
		sum += watches->items[i]->rests ? watches->items[i]->last.mark.runs : 0;
	return sum;
}

/* Read those of the active ones. */
static bool sum_active(const struct pmp_watches *watches, const struct pmp_process *process,
		       uint64_t *sum)
{
	struct pmp_mark mark;

	*sum = 0;
	for (size_t i = 0; i < watches->count; i++) {
		if (watches->items[i]->rests)
			continue;
		if (pmp_watch_read(watches, process, watches->items[i], &mark) < 0 ||
		    !mark.runs)
			return false;
		*sum += mark.runs;
	}
	return true;
}

/* If it rests it has not ended. */
static bool leader_lives(const struct pmp_resting *resting, const struct pmp_process *process)
{
	struct pmp_stat stat;
	char path[PATH_SIZE];

	if (resting->leader_rests)
		return true;
	snprintf(path, sizeof(path), "task/%d/stat", (int)process->pid);
	return pmp_stat_read(process->proc, path, &stat) == 0 && !pmp_state_ended(stat.state);
}

static bool ask(struct pmp_resting *resting, const struct pmp_process *process,
		const struct pmp_log *log)
{
	if (!resting->opened && !resting->unusable)
		resting->opened = pmp_taskstats_open(&resting->stats);
	if (resting->opened &&
	    pmp_taskstats_runs(&resting->stats, process->pid, &resting->sum))
		return true;
	if (!resting->unusable)
		PMP_LOG(log, "watch", "no taskstats: each thread is asked for itself");
	resting->unusable = true;
	return false;
}

bool pmp_resting_prove(struct pmp_resting *resting, struct pmp_watches *watches,
		       const struct pmp_process *process, uint64_t number,
		       const struct pmp_log *log)
{
	uint64_t active;

	resting->sum = 0;
	if (resting->unusable || watches->by_switches)
		return false;
	divide(resting, watches, process->pid, number);
	if (resting->count < WORTH || resting->count <= watches->count - resting->count ||
	    !sum_active(watches, process, &active))
		return false;
	if (!ask(resting, process, log))
		return false;
	if (!leader_lives(resting, process)) {
		pmp_resting_forget(resting);
		return false;
	}
	if (resting->has_others &&
	    (resting->sum == sum_resting(watches) + active + (uint64_t)resting->others ||
	     PMP_FAULT("believe-rest")))
		return true;
	if (!sum_active(watches, process, &resting->active))
		resting->sum = 0;
	return false;
}

void pmp_resting_learn(struct pmp_resting *resting, const struct pmp_watches *watches)
{
	int64_t others;

	if (!resting->sum)
		return;
	others = (int64_t)(resting->sum - sum_resting(watches) - resting->active);
	if (!resting->has_others || others > resting->others)
		resting->others = others;
	resting->has_others = true;
}
