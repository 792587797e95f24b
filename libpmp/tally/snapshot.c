/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last sample; it is copied, as it ends with the next one. */
#include "tally/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"

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

/* Where a thread's stack begins at that time; sorted. */
struct pmp_stack_start {
	uint64_t sp; /* first, see base/search.h */
	pid_t tid;
};

static int compare_stacks(const void *a, const void *b)
{
	const struct pmp_stack_start *one = a, *other = b;

	return (one->sp > other->sp) - (one->sp < other->sp);
}

/* Those of all threads whose stack pointer is known. Their number. */
static size_t sort_stacks(const struct pmp_sample *sample, struct pmp_stack_start *stacks)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		if (sample->threads[i].sp)
			stacks[count++] = (struct pmp_stack_start){
				.sp = sample->threads[i].sp,
				.tid = sample->threads[i].tid,
			};
	}
	qsort(stacks, count, sizeof(*stacks), compare_stacks);
	return count;
}

/* Does it lie between a thread's stack pointer and the end of the mapping? */
static void find_stack(const struct pmp_sample *sample,
		       const struct pmp_stack_start *stacks, size_t count,
		       uint64_t address, struct pmp_located_object *object)
{
	const struct pmp_region *region = pmp_maps_find(sample->maps, address);
	size_t after = pmp_search_after(stacks, count, sizeof(*stacks), address);

	if (!region || strcmp(region->module->path, "[heap]") == 0)
		return;
	if (after && stacks[after - 1].sp >= region->start)
		object->stack_of = stacks[after - 1].tid;
	else if (strcmp(region->module->path, "[stack]") == 0)
		object->stack_of = sample->pid;
	if (object->stack_of)
		object->in = PMP_IN_STACK;
}

static void locate_objects(struct pmp_kept_snapshot *snapshot,
			   const struct pmp_sample *sample,
			   struct pmp_symbolizer *symbolizer)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		struct pmp_located_object *object = &snapshot->rows[i].object;
		const uint64_t address = sample->threads[i].wait.object;

		object->location = PMP_LOCATION_NONE;
		if (!sample->threads[i].wait.kind || !sample->maps)
			continue;
		pmp_symbolizer_locate_object(symbolizer, sample->maps, address, object);
		if (object->in != PMP_IN_HEAP)
			continue;
		if (!count)
			count = sort_stacks(sample, snapshot->stacks);
		find_stack(sample, snapshot->stacks, count, address, object);
	}
}

/* ---- the sample ------------------------------------------------------------ */

int pmp_snapshot_keep(struct pmp_kept_snapshot *snapshot, const struct pmp_sample *sample,
		      const pmp_location *locations, struct pmp_symbolizer *symbolizer)
{
	size_t threads = sample->thread_count, frames = sample->frame_count;

	/* One more than needed: no array is NULL, whatever the sample lacks. */
	if (PMP_RESERVE(&snapshot->threads, &snapshot->thread_capacity, threads + 1) ||
	    PMP_RESERVE(&snapshot->rows, &snapshot->row_capacity, threads + 1) ||
	    PMP_RESERVE(&snapshot->stacks, &snapshot->stack_capacity, threads + 1) ||
	    PMP_RESERVE(&snapshot->frames, &snapshot->frame_capacity, frames + 1) ||
	    PMP_RESERVE(&snapshot->locations, &snapshot->location_capacity, frames + 1))
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
		};
	}
	locate_objects(snapshot, sample, symbolizer);
	qsort(snapshot->rows, threads, sizeof(*snapshot->rows), compare_rows);
	memcpy(snapshot->name, sample->name, sizeof(snapshot->name));
	snapshot->name[sizeof(snapshot->name) - 1] = '\0';
	snapshot->public.number++;
	snapshot->public.info.size = sizeof(snapshot->public.info);
	pmp_sample_info(sample, &snapshot->public.info);
	snapshot->public.info.name = snapshot->name;
	snapshot->public.rows = snapshot->rows;
	snapshot->public.row_count = threads;
	return 0;
}

void pmp_snapshot_free(struct pmp_kept_snapshot *snapshot)
{
	free(snapshot->threads);
	free(snapshot->frames);
	free(snapshot->locations);
	free(snapshot->rows);
	free(snapshot->stacks);
}
