/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of stacks: their sizes are learned per thread; walks read stacks only from
 * them. */
#include "capture/stack-copy.h"

#include "capture/maps-refresh.h"

#include <stdlib.h>
#include <string.h>

#define COPY_FIRST (16u << 10) /* bytes of a stack never seen before */
#define COPY_LEAST (4u << 10)
#define COPY_MOST (512u << 10)	       /* all pieces of one thread */
#define COPIES_MOST ((size_t)64 << 20) /* of all threads stopped together */
#define COPY_MARGIN 1024u	       /* beyond what was needed last time */
#define COPY_BELOW 128u /* where another piece begins, below the missed address */

/* ---- reading --------------------------------------------------------------------- */

static bool read_copy(struct pmp_stack_reader *reader, uint64_t address, void *data,
		      size_t length)
{
	for (size_t i = 0; i < reader->request->range_count; i++) {
		const struct pmp_range *range = &reader->request->ranges[i];
		uint64_t at = address - range->address;

		if (address < range->address || at > range->got ||
		    length > range->got - at)
			continue;
		memcpy(data, range->data + at, length);
		if (reader->used[i] < at + length)
			reader->used[i] = at + length;
		return true;
	}
	return false;
}

static bool read_stack(void *arg, uint64_t address, void *data, size_t length)
{
	struct pmp_stack_reader *reader = arg;
	const struct pmp_region *region;

	if (read_copy(reader, address, data, length))
		return true;
	region = pmp_maps_find(reader->target->maps, address);
	if (!region) {
		reader->unmapped = true;
		return false;
	}
	if (!pmp_region_is_volatile(region))
		return pmp_memory_read(reader->target->memory, address, data, length);
	reader->missed = true;
	reader->missed_address = address;
	return false;
}

static bool code_is_unknown(const struct pmp_target *target, const struct pmp_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		const struct pmp_region *region =
			pmp_maps_find(target->maps, walk->frames[i].pc);

		if (!region || !(region->prot & PMP_PROT_EXEC))
			return true;
	}
	return false;
}

static int walk_once(struct pmp_target *target, struct pmp_stack_reader *reader,
		     struct pmp_walk *walk)
{
	const struct pmp_reader memory = { read_stack, reader };

	reader->missed = reader->unmapped = false;
	memset(reader->used, 0, sizeof(reader->used));
	walk->frames = target->workspace.frames;
	walk->regs = target->workspace.regs;
	walk->limit = target->options.max_frames;
	return pmp_walk(target->unwinder, &reader->regs, &memory, walk);
}

int pmp_stack_walk(struct pmp_capture *capture, struct pmp_stack_reader *reader,
		   struct pmp_walk *walk)
{
	struct pmp_target *target = capture->target;
	int r = walk_once(target, reader, walk);
	uint64_t generation = target->maps->generation;

	if (r < 0 || capture->maps_fresh ||
	    !(reader->unmapped || code_is_unknown(target, walk)))
		return r;
	if (pmp_maps_refresh_now(capture, NULL) < 0 ||
	    target->maps->generation == generation)
		return r;
	return walk_once(target, reader, walk);
}

int pmp_stack_try(struct pmp_stack_reader *reader, const struct pmp_regs *regs,
		  struct pmp_walk *walk)
{
	struct pmp_stack_reader trial = *reader;
	const struct pmp_reader memory = { read_stack, &trial };
	int r = pmp_walk(reader->target->unwinder, regs, &memory, walk);

	reader->missed = trial.missed;
	reader->missed_address = trial.missed_address;
	return r;
}

/* ---- how much to copy ------------------------------------------------------------- */

void pmp_stack_want_first(struct pmp_watch *watch)
{
	watch->range_count = 1;
	watch->ranges[0].want = COPY_FIRST;
}

static size_t total_want(const struct pmp_watch *watch)
{
	size_t total = 0;

	for (size_t i = 0; i < watch->range_count; i++)
		total += watch->ranges[i].want;
	return total;
}

/* The range in the same region that begins at or below address, or -1. */
static int range_below(const struct pmp_target *target,
		       const struct pmp_stop_request *request, uint64_t address)
{
	const struct pmp_region *region = pmp_maps_find(target->maps, address);

	for (size_t i = 0; region && i < request->range_count; i++)
		if (request->ranges[i].address >= region->start &&
		    request->ranges[i].address <= address)
			return (int)i;
	return -1;
}

bool pmp_stack_want_more(struct pmp_target *target, struct pmp_watch *watch,
			 const struct pmp_stack_reader *reader)
{
	const struct pmp_stop_request *request = reader->request;
	size_t used = total_want(watch), want;
	int i;

	if (request->cut)
		return false;
	i = range_below(target, request, reader->missed_address);
	if (i >= 0) {
		want = reader->missed_address - request->ranges[i].address + COPY_FIRST;
		if (want < watch->ranges[i].want * 4)
			want = watch->ranges[i].want * 4;
		if (want > COPY_MOST - (used - watch->ranges[i].want))
			want = COPY_MOST - (used - watch->ranges[i].want);
		if (want <= reader->missed_address - request->ranges[i].address)
			return false;
		watch->ranges[i].want = want;
		return true;
	}
	if (watch->range_count == PMP_REQUEST_RANGES || used + COPY_FIRST > COPY_MOST)
		return false;
	watch->ranges[watch->range_count].address = reader->missed_address - COPY_BELOW;
	watch->ranges[watch->range_count++].want = COPY_FIRST;
	return true;
}

void pmp_stack_learn(struct pmp_watch *watch, const struct pmp_stack_reader *reader)
{
	size_t kept = 0, room = COPY_MOST - total_want(watch);

	for (size_t i = 0; i < watch->range_count; i++) {
		size_t want = (reader->used[i] + COPY_MARGIN + 1023) & ~(size_t)1023;

		room += watch->ranges[i].want;
		if (i > 0 && reader->used[i] == 0)
			continue;
		if (want < COPY_LEAST)
			want = COPY_LEAST;
		if (want > room)
			want = room;
		room -= want;
		watch->ranges[kept].address = watch->ranges[i].address;
		watch->ranges[kept++].want = want;
	}
	watch->range_count = kept;
}

static struct pmp_range lock_range(const struct pmp_watch *watch)
{
	if (!watch->lock)
		return (struct pmp_range){ 0 };
	return (struct pmp_range){ .address = pmp_futex_first(watch->lock),
				   .want = PMP_FUTEX_BYTES };
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t total_of_all(const struct pmp_work *works, size_t count, size_t most)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += smaller(total_want(works[i].watch), most) +
			 lock_range(works[i].watch).want;
	return total;
}

/* The most to copy from each thread, so that all copies fit into COPIES_MOST, because they
 * are made while all threads are held. Only the deepest stacks are truncated. */
static size_t share_of_each(const struct pmp_work *works, size_t count)
{
	size_t most = COPY_MOST, fits = COPY_LEAST;

	if (total_of_all(works, count, most) <= COPIES_MOST)
		return most;
	while (most - fits > COPY_LEAST) {
		const size_t middle = fits + (most - fits) / 2;

		if (total_of_all(works, count, middle) <= COPIES_MOST)
			fits = middle;
		else
			most = middle;
	}
	return fits;
}

/* Fill the ranges wanted from the stack of a thread, up to most bytes, and their
 * buffers. */
static size_t prepare_ranges(const struct pmp_watch *watch, size_t most, uint8_t *copies,
			     struct pmp_stop_request *request)
{
	size_t at = 0;

	request->cut = total_want(watch) > most;
	for (size_t r = 0; r < watch->range_count && at < most; r++) {
		struct pmp_range *range = &request->ranges[request->range_count++];

		range->address = watch->ranges[r].address;
		range->want = smaller(watch->ranges[r].want, most - at);
		range->data = copies + at;
		at += range->want;
	}
	return at;
}

/* The memset faults the buffer in before any thread is held. */
int pmp_stack_prepare(struct pmp_workspace *workspace, const struct pmp_work *works,
		      struct pmp_stop_request *requests, size_t count)
{
	const size_t most = share_of_each(works, count);
	const size_t need = total_of_all(works, count, most);
	size_t at = 0;

	if (need > workspace->copies_size) {
		free(workspace->copies);
		workspace->copies_size = 0;
		workspace->copies = malloc(need);
		if (!workspace->copies)
			return PMP_ENOMEM;
		memset(workspace->copies, 1, need);
		workspace->copies_size = need;
	}
	for (size_t i = 0; i < count; i++) {
		const struct pmp_watch *watch = works[i].watch;
		struct pmp_stop_request *request = &requests[i];

		*request = (struct pmp_stop_request){ .tid = works[i].thread.tid,
						      .running = works[i].thread.state ==
								 'R',
						      .lock = lock_range(watch) };
		at += prepare_ranges(watch, most, workspace->copies + at, request);
		request->lock.data = workspace->copies + at;
		at += request->lock.want;
	}
	return 0;
}
