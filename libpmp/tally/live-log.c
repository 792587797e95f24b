/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was counted in the longest window of time: a log, one cell number for each thread
 * of each sample. What falls out of a window at its old end is taken off its counts
 * again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tally/live-tables.h"

#define LOG_MAX (8u * 1024 * 1024) /* cells in the log: 32 MiB */
#define ROUNDS_MAX (64u * 1024)	   /* samples in the log */

static const uint64_t window_times[PMP_WINDOW_COUNT] = {
	[PMP_WINDOW_START] = UINT64_MAX,
	[PMP_WINDOW_MINUTE] = PMP_LIVE_WINDOW_MAX,
	[PMP_WINDOW_SECONDS] = 10 * PMP_S,
};

/* Double a ring of which [tail, head) is in use; sizes are powers of two. */
static void *grow_ring(void *ring, size_t *size, size_t element, uint64_t tail,
		       uint64_t head)
{
	char *larger = reallocarray(NULL, *size, 2 * element);

	if (!larger)
		return NULL;
	for (uint64_t i = tail; i < head; i++)
		memcpy(larger + (i & (2 * *size - 1)) * element,
		       (char *)ring + (i & (*size - 1)) * element, element);
	free(ring);
	*size *= 2;
	return larger;
}

static uint32_t *log_at(const struct pmp_live *live, uint64_t position)
{
	return &live->log[position & (live->log_size - 1)];
}

static struct pmp_log_round *round_at(const struct pmp_live *live, uint64_t position)
{
	return &live->rounds[position & (live->rounds_size - 1)];
}

/* Take the oldest round of a window off its counts. */
static void expire(struct pmp_live *live, int window)
{
	struct pmp_log_tail *tail = &live->tails[window];
	const struct pmp_log_round *round = round_at(live, tail->round++);

	for (uint32_t i = 0; i < round->cells; i++)
		live->cells[*log_at(live, tail->cell++)].counts[window]--;
	live->info.stacks[window] -= round->cells;
	live->info.samples[window]--;
	live->processes[round->process].samples[window]--;
}

int pmp_live_log_reserve(struct pmp_live *live, size_t cells)
{
	struct pmp_log_tail *tail = &live->tails[PMP_WINDOW_MINUTE];
	struct pmp_log_tail *inner = &live->tails[PMP_WINDOW_SECONDS];

	/* Too much for the log: its windows become shorter, and say so. */
	while (tail->round < live->head.round &&
	       (live->head.cell + cells - tail->cell > LOG_MAX ||
		live->head.round + 1 - tail->round > ROUNDS_MAX)) {
		if (inner->round == tail->round)
			expire(live, PMP_WINDOW_SECONDS);
		expire(live, PMP_WINDOW_MINUTE);
	}
	while (live->head.cell + cells - tail->cell > live->log_size) {
		uint32_t *log = grow_ring(live->log, &live->log_size, sizeof(*log),
					  tail->cell, live->head.cell);

		if (!log)
			return PMP_ENOMEM;
		live->log = log;
	}
	if (live->head.round + 1 - tail->round > live->rounds_size) {
		struct pmp_log_round *rounds =
			grow_ring(live->rounds, &live->rounds_size, sizeof(*rounds),
				  tail->round, live->head.round);

		if (!rounds)
			return PMP_ENOMEM;
		live->rounds = rounds;
	}
	return 0;
}

void pmp_live_log_cell(struct pmp_live *live, uint32_t cell)
{
	*log_at(live, live->head.cell++) = cell;
}

void pmp_live_log_round(struct pmp_live *live, const struct pmp_log_round *round)
{
	*round_at(live, live->head.round++) = *round;
}

void pmp_live_log_expire(struct pmp_live *live, uint64_t now)
{
	for (int window = PMP_WINDOW_MINUTE; window < PMP_WINDOW_COUNT; window++) {
		struct pmp_log_tail *tail = &live->tails[window];

		while (tail->round < live->head.round &&
		       now - round_at(live, tail->round)->time > window_times[window])
			expire(live, window);
		live->info.span[window] =
			tail->round < live->head.round
				? now - round_at(live, tail->round)->time
				: 0;
	}
	live->info.span[PMP_WINDOW_START] = now - live->first_time;
}

void pmp_live_log_renumber(struct pmp_live *live, const uint32_t *cells)
{
	for (uint64_t i = live->tails[PMP_WINDOW_MINUTE].cell; i < live->head.cell; i++)
		*log_at(live, i) = cells[*log_at(live, i)];
}
