/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See recorder.h. */
#include "capture/recorder.h"

#include "base/fault.h"
#include "capture/maps-refresh.h"
#include "heap/registers.h"
#include "unwind/arch.h"

#include <string.h>

/* ---- memory ------------------------------------------------------------------------------ */

struct recorded_reader {
	struct pmp_target *target;
	uint64_t start, size; /* of the copy */
	const unsigned char *copy;
	bool unmapped;
};

static bool read_recorded(void *arg, uint64_t address, void *data, size_t length)
{
	struct recorded_reader *reader = arg;
	const struct pmp_region *region;

	if (address >= reader->start && address - reader->start <= reader->size &&
	    length <= reader->size - (address - reader->start)) {
		memcpy(data, reader->copy + (address - reader->start), length);
		return true;
	}
	region = pmp_maps_find(reader->target->maps, address);
	if (!region) {
		reader->unmapped = true;
		return false;
	}
	if (pmp_region_is_volatile(region))
		return false;
	return pmp_memory_read(reader->target->memory, address, data, length);
}

/* ---- the walk ------------------------------------------------------------------------------ */

static void fill_regs(const struct pmp_heap_record *record, struct pmp_regs *regs)
{
	static const int numbers[] = { PMP_HEAP_REGISTERS };

	*regs = (struct pmp_regs){ 0 };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		pmp_regs_set(regs, numbers[i], record->regs[i]);
}

static bool is_code(const struct pmp_target *target, uint64_t pc)
{
	const struct pmp_region *region = pmp_maps_find(target->maps, pc);

	return region && region->prot & PMP_PROT_EXEC;
}

static bool is_known(const struct pmp_target *target, const struct pmp_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++)
		if (!is_code(target, walk->frames[i].pc))
			return false;
	return true;
}

static int walk_once(struct pmp_target *target, const struct pmp_heap_entry *entry,
		     struct recorded_reader *reader, struct pmp_walk *walk)
{
	const struct pmp_reader memory = { read_recorded, reader };
	struct pmp_regs regs;

	fill_regs(&entry->record, &regs);
	*reader = (struct recorded_reader){
		.target = target,
		.start = entry->record.regs[PMP_HEAP_REG_SP],
		.size = entry->record.stack_size,
		.copy = entry->stack,
	};
	*walk = (struct pmp_walk){ .frames = target->workspace.frames,
				   .limit = target->options.max_frames };
	return pmp_walk(target->unwinder, &regs, &memory, walk);
}

/*
 * Remove the recorder's own frames, at the innermost end and where a thread begins. The
 * function that was called replaces the innermost one, which is the recorder's.
 */
static size_t replace_frames(struct pmp_raw_frame *frames, size_t count,
			     const struct pmp_heap_process *process, uint64_t function)
{
	size_t kept = 0;

	if (PMP_FAULT("heap-own-frames"))
		return count;
	for (size_t i = 0; i < count; i++) {
		const uint64_t pc = frames[i].pc;

		if (i == 0 && function) {
			frames[kept++] =
				(struct pmp_raw_frame){ function, PMP_FRAME_EXACT };
			continue;
		}
		if (pc < process->text_start || pc >= process->text_end)
			frames[kept++] = frames[i];
	}
	return kept;
}

int pmp_recorded_walk(struct pmp_capture *capture, const struct pmp_heap_entry *entry,
		      const struct pmp_heap_process *process, size_t *count,
		      enum pmp_end *end)
{
	struct pmp_target *target = capture->target;
	struct recorded_reader reader = { 0 };
	struct pmp_walk walk;
	int r;

	*count = 0;
	*end = PMP_END_MOVED;
	/* The process has exec'ed another program since. */
	if (!is_code(target, entry->record.regs[PMP_HEAP_REG_PC]) &&
	    (capture->maps_fresh || pmp_maps_refresh_now(capture, NULL) < 0 ||
	     !is_code(target, entry->record.regs[PMP_HEAP_REG_PC])))
		return 0;
	r = walk_once(target, entry, &reader, &walk);

	if (r == 0 && !capture->maps_fresh &&
	    (reader.unmapped || !is_known(target, &walk)) &&
	    pmp_maps_refresh_now(capture, NULL) == 0)
		r = walk_once(target, entry, &reader, &walk);
	if (r < 0)
		return r;
	*end = walk.end;
	if (walk.end == PMP_END_UNREADABLE)
		*end = entry->record.other_stack ? PMP_END_OTHER_STACK : PMP_END_COPY;
	/* Drop return addresses into code that was unmapped since: they have no name. */
	while (walk.count && !is_code(target, walk.frames[walk.count - 1].pc)) {
		walk.count--;
		*end = PMP_END_MOVED;
	}
	*count = replace_frames(target->workspace.frames, walk.count, process,
				process->functions[entry->record.function]);
	return 0;
}

/* ---- a batch --------------------------------------------------------------------------------- */

int pmp_recorded_begin(struct pmp_capture *capture, bool new_program,
		       struct pmp_error *err)
{
	struct pmp_target *target = capture->target;
	int r = pmp_maps_refresh_begin(capture, err);

	if (r == 0 && new_program && !capture->maps_fresh)
		r = pmp_maps_refresh_now(capture, err);
	/* Maps read before are those of another program. */
	if (r < 0 && new_program)
		return r;
	if (r == 0 || target->maps)
		r = pmp_maps_refresh_update(capture, NULL);
	if (!target->maps)
		return r < 0 ? r : PMP_ESRCH;
	pmp_memory_tick(target->memory);
	return 0;
}

/* The number of frames up to the first one whose code has changed. */
static uint32_t count_same(const struct pmp_capture *capture,
			   const struct pmp_raw_frame *frames, uint32_t count)
{
	uint32_t same = 0;

	while (same < count && pmp_maps_refresh_is_same(capture, frames[same].pc))
		same++;
	return same;
}

void pmp_recorded_end(struct pmp_capture *capture, struct pmp_heap_batch *batch)
{
	size_t kept = 0;

	if (pmp_maps_refresh_settle(capture)) {
		for (size_t i = 0; i < batch->event_count; i++) {
			struct pmp_heap_event *event = &batch->events[i];
			struct pmp_raw_frame *frames = batch->frames + event->frame;
			uint32_t same = count_same(capture, frames, event->frame_count);

			if (same < event->frame_count)
				event->end = PMP_END_MOVED;
			if (same)
				memmove(batch->frames + kept, frames,
					same * sizeof(*frames));
			event->frame = (uint32_t)kept;
			event->frame_count = same;
			kept += same;
		}
		batch->frame_count = kept;
	}
	pmp_maps_refresh_forget(capture);
}
