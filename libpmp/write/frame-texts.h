/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that a format writes for each frame, made once per location: a profile has far
 * fewer locations than frames. There is a line for each frame, innermost first; the
 * format puts whatever differs between stacks (an address, a number) before it.
 */
#ifndef PMP_WRITE_FRAME_TEXTS_H
#define PMP_WRITE_FRAME_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "report/report.h"

struct pmp_frame_text_slot {
	size_t offset, length; /* in text; length 0: not made yet */
};

/* Set the first three fields, zero the rest; end with pmp_frame_texts_free(). */
struct pmp_frame_texts {
	const struct pmp_report *report;
	/* Append the text of one frame, without a newline. */
	void (*make)(struct pmp_buf *buf, const struct pmp_frame *frame, const void *arg);
	const void *arg;

	struct pmp_buf text;
	struct pmp_frame_text_slot *slots; /* by location */
	size_t slot_count, slot_capacity;
};

/* Iterates over the frames of a location. */
struct pmp_frame_text {
	const char *line; /* not terminated */
	size_t length;
	const char *next, *end;
};

/* Begin with a location; its frames are valid until the next. False: no memory. */
bool pmp_frame_texts_begin(struct pmp_frame_texts *texts, pmp_location location,
			   struct pmp_frame_text *text);
/* Advance to the next frame; false after the last. */
bool pmp_frame_texts_next(struct pmp_frame_text *text);
void pmp_frame_texts_free(struct pmp_frame_texts *texts);

#endif
