/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See recorder-frames.h. */
#include "capture/recorder-frames.h"

#include "base/fault.h"

#include <stdbool.h>
#include <stdint.h>

struct hiding {
	const struct pmp_heap_process *process;
	uint64_t start, end; /* of its code */
	struct pmp_raw_frame *frames;
	size_t kept;  /* frames kept so far */
	size_t floor; /* the first kept frame after the last signal frame */
};

/* The address of a frame's instruction: a return address may be past the end of its
 * function. */
static uint64_t at(const struct pmp_raw_frame *frame)
{
	return frame->flags & PMP_FRAME_EXACT ? frame->pc : frame->pc - 1;
}

static bool is_own(const struct hiding *hiding, const struct pmp_raw_frame *frame)
{
	const uint64_t pc = at(frame);

	return pc >= hiding->start && pc < hiding->end;
}

/* The real function that the recorder's function at this frame wraps; 0: none. */
static uint64_t next_of(const struct hiding *hiding, const struct pmp_raw_frame *frame)
{
	uint32_t count = hiding->process->code_count;
	const uint64_t pc = at(frame);

	for (uint32_t i = 0; i < count && i < PMP_HEAP_CODES; i++) {
		const struct pmp_heap_code *code = &hiding->process->codes[i];

		if (pc - code->start < code->size)
			return code->next;
	}
	return 0;
}

/*
 * Frames [from, to) are the recorder's. A single one has only passed on the call, if the
 * frames inside it are not those of a signal. Otherwise the recorder, with all it called,
 * is working for itself.
 */
static void hide_run(struct hiding *hiding, size_t from, size_t to)
{
	const uint64_t next = next_of(hiding, &hiding->frames[to - 1]);

	if (!next || (to - from == 1 && hiding->kept > hiding->floor))
		return;
	hiding->kept = hiding->floor;
	hiding->frames[hiding->kept++] = (struct pmp_raw_frame){ next, PMP_FRAME_EXACT };
}

size_t pmp_recorder_frames_hide(const struct pmp_heap_process *process,
				struct pmp_raw_frame *frames, size_t count)
{
	struct hiding hiding = {
		.process = process,
		.start = process->text_start,
		.end = process->text_end,
		.frames = frames,
	};
	size_t to;

	if (PMP_FAULT("heap-own-frames"))
		return count;
	for (size_t i = 0; i < count; i = to) {
		for (to = i; to < count && is_own(&hiding, &frames[to]); to++)
			;
		if (to > i) {
			hide_run(&hiding, i, to);
			continue;
		}
		to = i + 1;
		frames[hiding.kept++] = frames[i];
		if (frames[i].flags & PMP_FRAME_SIGNAL)
			hiding.floor = hiding.kept;
	}
	return hiding.kept;
}
