/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last samples, which are copied, as a sample is valid only until the next one. */
#include "tally/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void pmp_thread_terminate(struct pmp_thread *thread)
{
	thread->name[sizeof(thread->name) - 1] = '\0';
	thread->reason[sizeof(thread->reason) - 1] = '\0';
	thread->wchan[sizeof(thread->wchan) - 1] = '\0';
}

static int compare_rows(const void *a, const void *b)
{
	const struct pmp_row *one = a, *other = b;

	return (one->thread->tid > other->thread->tid) -
	       (one->thread->tid < other->thread->tid);
}

/* ---- what threads wait for --------------------------------------------------- */

static void locate_parked(struct pmp_kept_snapshot *snapshot,
			  const struct pmp_sample *sample, uint64_t key,
			  struct pmp_located_object *parked)
{
	const struct pmp_region *region =
		sample->maps ? pmp_maps_find(sample->maps, key) : NULL;

	if (region && region->prot & PMP_PROT_WRITE)
		pmp_locator_find(&snapshot->locator, key, parked);
}

static void locate_objects(struct pmp_kept_snapshot *snapshot,
			   const struct pmp_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_wait *wait = &sample->threads[i].wait;
		struct pmp_row *row = &snapshot->rows[i];
		uint64_t key = pmp_wait_parked_under(wait);

		row->object.location = PMP_LOCATION_NONE;
		row->parked.location = PMP_LOCATION_NONE;
		if (wait->kind && !pmp_wait_is_outside(wait->kind))
			pmp_locator_find(&snapshot->locator, wait->object, &row->object);
		if (key)
			locate_parked(snapshot, sample, key, &row->parked);
	}
}

static int infer_from_history(struct pmp_kept_snapshot *snapshot,
			      const struct pmp_sample *sample)
{
	const struct pmp_wait_history *history =
		pmp_wait_histories_add(&snapshot->histories, sample);

	if (!history)
		return PMP_ENOMEM;
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];
		struct pmp_row *row = &snapshot->rows[i];
		const struct pmp_taken_lock *taken;

		if (!thread->wait.kind)
			continue;
		row->waits_since = pmp_wait_history_of(history, thread->tid)->since;
		taken = pmp_wait_history_taken(history, thread->tid);
		if (!taken)
			continue;
		row->taker = taken->taker;
		row->taken_after = taken->after;
	}
	return 0;
}

/* Copy the outsides and others. Their indices need no check: a received sample has been
 * validated. */
static int keep_outsides(struct pmp_kept_snapshot *snapshot,
			 const struct pmp_sample *sample)
{
	const size_t things = sample->outside_count, others = sample->other_count;

	if (PMP_RESERVE(&snapshot->outsides, &snapshot->outside_capacity, things + 1) ||
	    PMP_RESERVE(&snapshot->others, &snapshot->other_capacity, others + 1))
		return PMP_ENOMEM;
	if (things)
		memcpy(snapshot->outsides, sample->outsides,
		       things * sizeof(*snapshot->outsides));
	if (others)
		memcpy(snapshot->others, sample->others,
		       others * sizeof(*snapshot->others));
	snapshot->public.outsides = snapshot->outsides;
	snapshot->public.others = snapshot->others;
	snapshot->public.hidden = sample->hidden;
	snapshot->public.walk_cut = sample->walk_cut;
	return 0;
}

static void drop_census(struct pmp_kept_snapshot *snapshot)
{
	pmp_census_free(snapshot->census);
	free(snapshot->census_words);
	snapshot->census = NULL;
	snapshot->census_words = NULL;
	snapshot->public.census = NULL;
	snapshot->public.census_words = NULL;
}

/* The first words of blocks that point into modules are located, to be named later. */
static int keep_census(struct pmp_kept_snapshot *snapshot,
		       const struct pmp_sample *sample, struct pmp_symbolizer *symbolizer)
{
	const struct pmp_census *census = sample->census;
	struct pmp_located_object *words;

	drop_census(snapshot);
	if (!census)
		return 0;
	snapshot->census =
		pmp_census_copy(&census->totals, census->rows, census->row_count);
	words = calloc(census->row_count + 1, sizeof(*words));
	snapshot->census_words = words;
	if (!snapshot->census || !words)
		return PMP_ENOMEM;
	for (size_t i = 0; i < census->row_count; i++) {
		words[i] = (struct pmp_located_object){ .location = PMP_LOCATION_NONE };
		if (census->rows[i].word && sample->maps)
			pmp_symbolizer_locate_object(symbolizer, sample->maps,
						     census->rows[i].word, &words[i]);
	}
	snapshot->public.census = snapshot->census;
	snapshot->public.census_words = words;
	return 0;
}

/* ---- the sample ------------------------------------------------------------ */

static int keep(struct pmp_kept_snapshot *snapshot, const struct pmp_sample *sample,
		const pmp_location *locations, struct pmp_symbolizer *symbolizer)
{
	size_t threads = sample->thread_count, frames = sample->frame_count;

	/* If anything fails, the snapshot is empty. */
	snapshot->public.number = 0;
	snapshot->public.row_count = 0;
	/* One more than needed, so that no array is NULL even if the sample is empty. */
	if (PMP_RESERVE(&snapshot->threads, &snapshot->thread_capacity, threads + 1) ||
	    PMP_RESERVE(&snapshot->rows, &snapshot->row_capacity, threads + 1) ||
	    pmp_locator_start(&snapshot->locator, sample, symbolizer) ||
	    PMP_RESERVE(&snapshot->frames, &snapshot->frame_capacity, frames + 1) ||
	    PMP_RESERVE(&snapshot->locations, &snapshot->location_capacity, frames + 1) ||
	    keep_outsides(snapshot, sample) || keep_census(snapshot, sample, symbolizer))
		return PMP_ENOMEM;
	if (frames) {
		memcpy(snapshot->frames, sample->frames,
		       frames * sizeof(*snapshot->frames));
		memcpy(snapshot->locations, locations,
		       frames * sizeof(*snapshot->locations));
	}
	for (size_t i = 0; i < threads; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		snapshot->threads[i] = *thread;
		pmp_thread_terminate(&snapshot->threads[i]);
		snapshot->rows[i] = (struct pmp_row){
			.thread = &snapshot->threads[i],
			.raw = snapshot->frames + thread->frame,
			.locations = snapshot->locations + thread->frame,
			.found = snapshot->locations + thread->frame,
			.found_count = thread->frame_count,
		};
	}
	locate_objects(snapshot, sample);
	if (infer_from_history(snapshot, sample))
		return PMP_ENOMEM;
	qsort(snapshot->rows, threads, sizeof(*snapshot->rows), compare_rows);
	memcpy(snapshot->name, sample->name, sizeof(snapshot->name));
	snapshot->name[sizeof(snapshot->name) - 1] = '\0';
	snapshot->public.info.size = sizeof(snapshot->public.info);
	pmp_sample_info(sample, &snapshot->public.info);
	snapshot->public.info.name = snapshot->name;
	snapshot->public.rows = snapshot->rows;
	snapshot->public.row_count = threads;
	snapshot->public.crash = sample->crash;
	return 0;
}

static void free_kept(struct pmp_kept_snapshot *snapshot)
{
	free(snapshot->threads);
	free(snapshot->frames);
	free(snapshot->locations);
	free(snapshot->rows);
	pmp_locator_free(&snapshot->locator);
	free(snapshot->outsides);
	free(snapshot->others);
	drop_census(snapshot);
	pmp_wait_histories_free(&snapshot->histories);
	free(snapshot);
}

/* ---- of several processes ---------------------------------------------------- */

static size_t place_of(const struct pmp_snapshots *snapshots, pid_t pid)
{
	size_t low = 0, high = snapshots->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snapshots->all[middle]->public.info.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct pmp_kept_snapshot *find(const struct pmp_snapshots *snapshots, pid_t pid)
{
	size_t i = place_of(snapshots, pid);

	return i < snapshots->count && snapshots->all[i]->public.info.pid == pid
		       ? snapshots->all[i]
		       : NULL;
}

static struct pmp_kept_snapshot *add(struct pmp_snapshots *snapshots, pid_t pid)
{
	struct pmp_kept_snapshot *new;
	size_t i = place_of(snapshots, pid);

	if (PMP_RESERVE(&snapshots->all, &snapshots->capacity, snapshots->count + 1))
		return NULL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->public.info.pid = pid;
	memmove(snapshots->all + i + 1, snapshots->all + i,
		(snapshots->count++ - i) * sizeof(*snapshots->all));
	snapshots->all[i] = new;
	return new;
}

static void drop(struct pmp_snapshots *snapshots, struct pmp_kept_snapshot *dropped)
{
	size_t i = place_of(snapshots, dropped->public.info.pid);

	memmove(snapshots->all + i, snapshots->all + i + 1,
		(--snapshots->count - i) * sizeof(*snapshots->all));
	free_kept(dropped);
}

int pmp_snapshots_keep(struct pmp_snapshots *snapshots, const struct pmp_sample *sample,
		       const pmp_location *locations, struct pmp_symbolizer *symbolizer)
{
	struct pmp_kept_snapshot *last = snapshots->last;
	struct pmp_kept_snapshot *kept = find(snapshots, sample->pid);

	if (last && last->ended) {
		snapshots->last = NULL;
		kept = last == kept ? NULL : kept;
		drop(snapshots, last);
	}
	if (!kept)
		kept = add(snapshots, sample->pid);
	if (!kept || keep(kept, sample, locations, symbolizer))
		return PMP_ENOMEM;
	kept->public.number = ++snapshots->number;
	snapshots->last = kept;
	return 0;
}

const struct pmp_snapshot *pmp_snapshots_get(const struct pmp_snapshots *snapshots,
					     pid_t pid)
{
	const struct pmp_kept_snapshot *kept =
		pid ? find(snapshots, pid) : snapshots->last;

	return kept && kept->public.number ? &kept->public : NULL;
}

void pmp_snapshots_forget(struct pmp_snapshots *snapshots, pid_t pid)
{
	struct pmp_kept_snapshot *kept = find(snapshots, pid);

	if (!kept)
		return;
	kept->ended = true;
	if (kept != snapshots->last)
		drop(snapshots, kept);
}

static void mark(const struct pmp_located_object *object, bool *used)
{
	if (object->location != PMP_LOCATION_NONE)
		used[object->location] = true;
}

void pmp_snapshots_mark(const struct pmp_snapshots *snapshots, bool *used)
{
	for (size_t i = 0; i < snapshots->count; i++) {
		const struct pmp_snapshot *snapshot = &snapshots->all[i]->public;

		for (size_t k = 0; k < snapshot->row_count; k++) {
			const struct pmp_row *row = &snapshot->rows[k];

			for (size_t j = 0; j < row->found_count; j++)
				used[row->found[j]] = true;
			mark(&row->object, used);
			mark(&row->parked, used);
		}
		for (size_t k = 0; snapshot->census && k < snapshot->census->row_count;
		     k++)
			mark(&snapshot->census_words[k], used);
	}
}

void pmp_snapshots_free(struct pmp_snapshots *snapshots)
{
	for (size_t i = 0; i < snapshots->count; i++)
		free_kept(snapshots->all[i]);
	free(snapshots->all);
}
