/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was counted in a window of time: one counter number for each thread of each sample
 * of the longest one.
 */
#include <stdlib.h>
#include <string.h>

#include "tally/live-tables.h"

#define LOG_COUNTERS_MAX (8u * 1024 * 1024) /* counters: 32 MiB */
#define LOG_SAMPLES_MAX (64u * 1024)

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

static struct pmp_log_sample *sample_at(const struct pmp_live *live, uint64_t position)
{
	return &live->log_samples[position & (live->log_samples_size - 1)];
}

/* Take the oldest sample of a window off its counts. */
static void expire(struct pmp_live *live, int window)
{
	struct pmp_log_tail *tail = &live->tails[window];
	const struct pmp_log_sample *sample = sample_at(live, tail->sample++);

	for (uint32_t i = 0; i < sample->counters; i++) {
		uint32_t logged = *log_at(live, tail->counter++);
		struct pmp_counted_counter *counter =
			&live->counters[logged & ~PMP_LOG_NEW];

		counter->counts[window]--;
		if (counter->wait != PMP_INTERN_NONE && !(logged & PMP_LOG_NEW))
			live->waits[counter->wait].delays[window] -= sample->passed;
	}
	live->windows[window].stacks -= sample->counters;
	live->windows[window].samples--;
	live->processes[sample->process].samples[window]--;
}

int pmp_live_log_reserve(struct pmp_live *live, size_t counters)
{
	struct pmp_log_tail *tail = &live->tails[PMP_WINDOW_MINUTE];
	struct pmp_log_tail *inner = &live->tails[PMP_WINDOW_SECONDS];

	/* Too much for the log: its windows become shorter, and say so. */
	while (tail->sample < live->head.sample &&
	       (live->head.counter + counters - tail->counter > LOG_COUNTERS_MAX ||
		live->head.sample + 1 - tail->sample > LOG_SAMPLES_MAX)) {
		if (inner->sample == tail->sample)
			expire(live, PMP_WINDOW_SECONDS);
		expire(live, PMP_WINDOW_MINUTE);
	}
	while (live->head.counter + counters - tail->counter > live->log_size) {
		uint32_t *log = grow_ring(live->log, &live->log_size, sizeof(*log),
					  tail->counter, live->head.counter);

		if (!log)
			return PMP_ENOMEM;
		live->log = log;
	}
	if (live->head.sample + 1 - tail->sample > live->log_samples_size) {
		struct pmp_log_sample *samples =
			grow_ring(live->log_samples, &live->log_samples_size,
				  sizeof(*samples), tail->sample, live->head.sample);

		if (!samples)
			return PMP_ENOMEM;
		live->log_samples = samples;
	}
	return 0;
}

void pmp_live_log_counter(struct pmp_live *live, uint32_t counter)
{
	*log_at(live, live->head.counter++) = counter;
}

void pmp_live_log_sample(struct pmp_live *live, const struct pmp_log_sample *sample)
{
	*sample_at(live, live->head.sample++) = *sample;
}

void pmp_live_log_expire(struct pmp_live *live, uint64_t now)
{
	for (int window = PMP_WINDOW_MINUTE; window < PMP_WINDOW_COUNT; window++) {
		struct pmp_log_tail *tail = &live->tails[window];

		while (tail->sample < live->head.sample &&
		       now - sample_at(live, tail->sample)->time >
			       pmp_live_window_times[window])
			expire(live, window);
		live->windows[window].span =
			tail->sample < live->head.sample
				? now - sample_at(live, tail->sample)->time
				: 0;
	}
	live->windows[PMP_WINDOW_START].span = now - live->first_time;
}

void pmp_live_log_renumber(struct pmp_live *live, const uint32_t *processes,
			   const uint32_t *counters)
{
	const struct pmp_log_tail *tail = &live->tails[PMP_WINDOW_MINUTE];

	for (uint64_t i = tail->counter; i < live->head.counter; i++)
		*log_at(live, i) = counters[*log_at(live, i) & ~PMP_LOG_NEW] |
				   (*log_at(live, i) & PMP_LOG_NEW);
	for (uint64_t i = tail->sample; i < live->head.sample; i++)
		sample_at(live, i)->process = processes[sample_at(live, i)->process];
}
