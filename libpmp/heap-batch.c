/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See heap-batch.h. */
#include "heap-batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

struct pmp_heap_batch *pmp_heap_batch_new(void)
{
	return calloc(1, sizeof(struct pmp_heap_batch));
}

void pmp_heap_batch_free(struct pmp_heap_batch *batch)
{
	if (!batch)
		return;
	pmp_maps_unref(batch->maps);
	free(batch->threads);
	free(batch->events);
	free(batch->frames);
	free(batch);
}

pid_t pmp_heap_batch_pid(const struct pmp_heap_batch *batch)
{
	return batch->pid;
}

void pmp_heap_batch_clear(struct pmp_heap_batch *batch)
{
	pmp_maps_unref(batch->maps);
	batch->maps = NULL;
	batch->thread_count = batch->event_count = batch->frame_count = 0;
}

static void set_name(struct pmp_heap_thread *thread, const char *name)
{
	memcpy(thread->name, name, strnlen(name, sizeof(thread->name) - 1));
}

int pmp_heap_batch_thread(struct pmp_heap_batch *batch, pid_t tid, const char *name,
			  uint32_t *index)
{
	struct pmp_heap_thread *thread;

	/* It is mostly the last one. */
	for (size_t i = batch->thread_count; i-- > 0;) {
		*index = (uint32_t)i;
		thread = &batch->threads[i];
		if (thread->tid != tid)
			continue;
		/* The event START comes from a thread whose name is not known yet. */
		if (!*thread->name)
			set_name(thread, name);
		return 0;
	}
	if (PMP_RESERVE(&batch->threads, &batch->thread_capacity,
			batch->thread_count + 1))
		return PMP_ENOMEM;
	thread = &batch->threads[batch->thread_count];
	*thread = (struct pmp_heap_thread){ .tid = tid };
	set_name(thread, name);
	*index = (uint32_t)batch->thread_count++;
	return 0;
}

int pmp_heap_batch_add(struct pmp_heap_batch *batch, const struct pmp_heap_event *event,
		       const struct pmp_raw_frame *frames, size_t count)
{
	struct pmp_heap_event *added;

	/* One frame more than needed, so that it is not NULL even without frames. */
	if (PMP_RESERVE(&batch->events, &batch->event_capacity, batch->event_count + 1) ||
	    PMP_RESERVE(&batch->frames, &batch->frame_capacity,
			batch->frame_count + count + 1))
		return PMP_ENOMEM;
	added = &batch->events[batch->event_count++];
	*added = *event;
	added->frame = (uint32_t)batch->frame_count;
	added->frame_count = (uint32_t)count;
	if (count)
		memcpy(batch->frames + batch->frame_count, frames,
		       count * sizeof(*frames));
	batch->frame_count += count;
	return 0;
}

int pmp_heap_batch_check(const struct pmp_heap_batch *batch, struct pmp_error *err)
{
	if (batch->totals.state != PMP_HEAP_STATE_COUNTS)
		return 0;
	if (batch->totals.allocator == PMP_HEAP_ALLOCATOR_OWN) {
		pmp_error_set(
			err, PMP_EUNSUPPORTED,
			"memory of %s [%d] is not recorded: the program has a malloc() "
			"of its own",
			batch->name, (int)batch->pid);
		pmp_error_hint(err, "what it takes from the kernel is, with --heap-mmap");
		return PMP_EUNSUPPORTED;
	}
	pmp_error_set(
		err, PMP_EUNSUPPORTED,
		"memory of %s [%d] is not recorded: its allocator (%s) mixes operator "
		"new and malloc()",
		batch->name, (int)batch->pid,
		*batch->totals.allocator_name ? batch->totals.allocator_name : "unknown");
	pmp_error_hint(err, "its totals are right");
	return PMP_EUNSUPPORTED;
}
