/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last sample; it is copied, as it ends with the next one. */
#include "tally/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void pmp_thread_terminate(struct pmp_thread *thread)
{
	thread->name[sizeof(thread->name) - 1] = '\0';
	thread->why[sizeof(thread->why) - 1] = '\0';
	thread->wchan[sizeof(thread->wchan) - 1] = '\0';
}

static int compare_rows(const void *a, const void *b)
{
	const struct pmp_row *one = a, *other = b;

	return (one->thread->tid > other->thread->tid) -
	       (one->thread->tid < other->thread->tid);
}

int pmp_last_round_keep(struct pmp_last_round *round, const struct pmp_sample *sample,
			const pmp_location *locations)
{
	size_t threads = sample->thread_count, frames = sample->frame_count;

	/* One more than needed: no array is NULL, whatever the sample lacks. */
	if (PMP_RESERVE(&round->threads, &round->thread_capacity, threads + 1) ||
	    PMP_RESERVE(&round->rows, &round->row_capacity, threads + 1) ||
	    PMP_RESERVE(&round->frames, &round->frame_capacity, frames + 1) ||
	    PMP_RESERVE(&round->locations, &round->location_capacity, frames + 1))
		return PMP_ENOMEM;
	if (frames) {
		memcpy(round->frames, sample->frames, frames * sizeof(*round->frames));
		memcpy(round->locations, locations, frames * sizeof(*round->locations));
	}
	for (size_t i = 0; i < threads; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		round->threads[i] = *thread;
		pmp_thread_terminate(&round->threads[i]);
		round->rows[i] = (struct pmp_row){
			.thread = &round->threads[i],
			.raw = round->frames + thread->frame,
			.locations = round->locations + thread->frame,
		};
	}
	qsort(round->rows, threads, sizeof(*round->rows), compare_rows);
	memcpy(round->name, sample->name, sizeof(round->name));
	round->name[sizeof(round->name) - 1] = '\0';
	round->public.number++;
	round->public.info.size = sizeof(round->public.info);
	pmp_sample_info(sample, &round->public.info);
	round->public.info.name = round->name;
	round->public.rows = round->rows;
	round->public.row_count = threads;
	return 0;
}

void pmp_last_round_free(struct pmp_last_round *round)
{
	free(round->threads);
	free(round->frames);
	free(round->locations);
	free(round->rows);
}
