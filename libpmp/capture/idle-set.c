/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What might break the equation in idle-set.h, and why it does not:
 *
 *   A thread exits: it runs for that, so the sum increases by at least one. Its runs
 *   stay in the sum. While it exits they may be counted twice: a sum that is too large
 *   proves nothing, so this is safe.
 *   It exits and another one starts: the list of threads has changed, which the next
 *   peek at it notices; until then see above.
 *   The leader exits before the others: it stays in the list, and its last runs, while
 *   exiting, are in its own number but not in the sum. So it must be alive.
 */
#include "capture/idle-set.h"

#include "base/fault.h"

#define IDLE_MIN 2   /* idle captures required per capture in which it ran; */
#define IDLE_MAX 16  /* never more than that */
#define WORTH 8	     /* minimum idle threads for a query, if there */
		     /* are more than active ones, which are read twice */
#define MISSES_MAX 5 /* in a row: then the next query is 16 captures later */

void pmp_idle_set_close(struct pmp_idle_set *set)
{
	if (set->opened)
		pmp_taskstats_close(&set->stats);
	*set = (struct pmp_idle_set){ .unusable = true };
}

void pmp_idle_set_forget(struct pmp_idle_set *set)
{
	set->has_others = false;
	set->sum = 0;
}

static bool is_idle(const struct pmp_watch *watch, uint64_t number)
{
	uint64_t quiet = number - watch->changed;

	return watch->proven && watch->last.run_count.runs &&
	       (quiet > IDLE_MAX || quiet > watch->changes * IDLE_MIN);
}

/* Without a new version active threads may become idle, but not the other way round. */
static bool all_are_idle(const struct pmp_idle_set *set,
			 const struct pmp_watches *watches)
{
	return set->count == watches->count && set->version == watches->version;
}

static void divide(struct pmp_idle_set *set, struct pmp_watches *watches, pid_t leader,
		   uint64_t number)
{
	if (all_are_idle(set, watches))
		return;
	set->version = watches->version;
	set->count = 0;
	set->runs = 0;
	set->leader_idle = false;
	for (size_t i = 0; i < watches->count; i++) {
		struct pmp_watch *watch = watches->items[i];

		watch->idle = is_idle(watch, number);
		if (!watch->idle)
			continue;
		set->count++;
		set->runs += watch->last.run_count.runs;
		set->leader_idle |= watch->tid == leader;
	}
}

/* Their current runs: the capture has read each. */
static uint64_t sum_idle(const struct pmp_watches *watches)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < watches->count; i++)
		sum += watches->items[i]->idle ? watches->items[i]->last.run_count.runs
					       : 0;
	return sum;
}

/* Read the runs of the active ones. */
static bool sum_active(const struct pmp_idle_set *set, struct pmp_watches *watches,
		       const struct pmp_process *process, uint64_t *sum)
{
	struct pmp_run_count run_count;

	*sum = 0;
	if (all_are_idle(set, watches))
		return true;
	for (size_t i = 0; i < watches->count; i++) {
		if (watches->items[i]->idle)
			continue;
		if (pmp_watch_read(watches, process, watches->items[i], &run_count) < 0 ||
		    !run_count.runs)
			return false;
		*sum += run_count.runs;
	}
	return true;
}

/* If it is idle, it has not exited. */
static bool leader_lives(const struct pmp_idle_set *set,
			 const struct pmp_process *process)
{
	struct pmp_stat stat;

	if (set->leader_idle)
		return true;
	return pmp_task_stat(process, process->pid, &stat) == 0 &&
	       !pmp_state_ended(stat.state);
}

static bool ask(struct pmp_idle_set *set, const struct pmp_process *process,
		const struct pmp_log *log)
{
	if (!set->opened && !set->unusable)
		set->opened = pmp_taskstats_open(&set->stats);
	if (set->opened && pmp_taskstats_runs(&set->stats, process->pid, &set->sum))
		return true;
	if (!set->unusable)
		PMP_LOG(log, "watch", "no taskstats: one question for each thread");
	set->unusable = true;
	return false;
}

static bool is_proven(const struct pmp_idle_set *set, uint64_t active)
{
	return set->has_others &&
	       (set->sum == set->runs + active + (uint64_t)set->others ||
		PMP_FAULT("believe-idle"));
}

/* If active threads run while they are counted, the next query is likely to fail as
 * well. */
static void miss(struct pmp_idle_set *set, uint64_t number)
{
	if (set->misses < MISSES_MAX)
		set->misses++;
	set->next = number + (1u << set->misses) / 2;
}

bool pmp_idle_set_prove(struct pmp_idle_set *set, struct pmp_watches *watches,
			const struct pmp_process *process, uint64_t number,
			const struct pmp_log *log)
{
	uint64_t active;

	set->sum = 0;
	if (set->unusable || watches->by_switches || number < set->next)
		return false;
	divide(set, watches, process->pid, number);
	if (set->count < WORTH || set->count <= watches->count - set->count ||
	    !sum_active(set, watches, process, &active))
		return false;
	if (!ask(set, process, log))
		return false;
	if (!leader_lives(set, process)) {
		pmp_idle_set_forget(set);
		return false;
	}
	if (is_proven(set, active)) {
		set->proofs++;
		set->misses = 0;
		return true;
	}
	miss(set, number);
	if (!sum_active(set, watches, process, &set->active))
		set->sum = 0;
	return false;
}

/* The first proof succeeded, with the leader alive, so set->runs still are those of the
 * idle threads. */
bool pmp_idle_set_prove_again(struct pmp_idle_set *set, struct pmp_watches *watches,
			      const struct pmp_process *process,
			      const struct pmp_log *log)
{
	uint64_t active;

	return sum_active(set, watches, process, &active) && ask(set, process, log) &&
	       leader_lives(set, process) && is_proven(set, active);
}

void pmp_idle_set_learn(struct pmp_idle_set *set, const struct pmp_watches *watches)
{
	int64_t others;

	if (!set->sum)
		return;
	others = (int64_t)(set->sum - sum_idle(watches) - set->active);
	if (!set->has_others || others > set->others)
		set->others = others;
	set->has_others = true;
}
