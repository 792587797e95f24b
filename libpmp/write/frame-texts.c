/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of all locations are in one buffer. */
#include "write/frame-texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void make_lines(struct pmp_frame_texts *texts, pmp_location location)
{
	const struct pmp_frame *frames;
	size_t count = pmp_report_frames(texts->report, location, &frames);
	size_t start = texts->text.length;

	for (size_t i = 0; i < count; i++) {
		texts->make(&texts->text, &frames[i], texts->arg);
		pmp_buf_putc(&texts->text, '\n');
	}
	texts->slots[location] =
		(struct pmp_frame_text_slot){ start, texts->text.length - start };
}

bool pmp_frame_texts_begin(struct pmp_frame_texts *texts, pmp_location location,
			   struct pmp_frame_text *text)
{
	size_t need = (size_t)location + 1;

	if (need > texts->slot_count) {
		if (PMP_RESERVE(&texts->slots, &texts->slot_capacity, need))
			return false;
		memset(texts->slots + texts->slot_count, 0,
		       (texts->slot_capacity - texts->slot_count) *
			       sizeof(*texts->slots));
		texts->slot_count = texts->slot_capacity;
	}
	if (!texts->slots[location].length)
		make_lines(texts, location);
	if (pmp_buf_failed(&texts->text))
		return false;
	*text = (struct pmp_frame_text){
		.next = texts->text.data + texts->slots[location].offset,
	};
	text->end = text->next + texts->slots[location].length;
	return true;
}

bool pmp_frame_texts_next(struct pmp_frame_text *text)
{
	const char *newline;

	if (text->next == text->end)
		return false;
	newline = memchr(text->next, '\n', (size_t)(text->end - text->next));
	text->line = text->next;
	text->length = (size_t)(newline - text->next);
	text->next = newline + 1;
	return true;
}

void pmp_frame_texts_free(struct pmp_frame_texts *texts)
{
	pmp_buf_free(&texts->text);
	free(texts->slots);
	texts->slots = NULL;
	texts->slot_count = texts->slot_capacity = 0;
}
