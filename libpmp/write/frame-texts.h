/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a format writes of each frame, made once for each location: a profile has far
 * fewer locations than frames. A line for each frame, the innermost first; what differs
 * from stack to stack (an address, a number) the format writes before it.
 */
#ifndef PMP_WRITE_FRAME_TEXTS_H
#define PMP_WRITE_FRAME_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "report/report.h"

struct pmp_frame_text_slot {
	size_t offset, length; /* in text; 0: not yet made */
};

/* To be set: the first three; all else zero; pmp_frame_texts_free() in the end. */
struct pmp_frame_texts {
	const struct pmp_report *report;
	/* Append one frame, without a newline. */
	void (*make)(struct pmp_buf *buf, const struct pmp_frame *frame, const void *arg);
	const void *arg;

	struct pmp_buf text;
	struct pmp_frame_text_slot *slots; /* by location */
	size_t slot_count, slot_capacity;
};

/* Walks over the frames of a location. */
struct pmp_frame_text {
	const char *line; /* not terminated */
	size_t length;
	const char *next, *end;
};

/* Begin with a location. False: no memory. Borrowed until the next location. */
bool pmp_frame_texts_begin(struct pmp_frame_texts *texts, pmp_location location,
			   struct pmp_frame_text *text);
/* The next frame; false after the last. */
bool pmp_frame_texts_next(struct pmp_frame_text *text);
void pmp_frame_texts_free(struct pmp_frame_texts *texts);

#endif
