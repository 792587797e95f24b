/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that take long, as there are many stacks: a writer (writers.h) makes them, so
 * that samples and other clients do not wait. */
#ifndef PMP_SINK_HEAVY_H
#define PMP_SINK_HEAVY_H

#include "sink/answers-parts.h"

#include <stdbool.h>
#include <stddef.h>

struct heavy {
	void (*write)(void *arg); /* in the writer */
	void *arg;
	const void *result; /* set by write(), sent back by the writer */
	size_t size;
	void (*on_written)(void *ended_arg, short revents); /* in the loop, at its end */
	void *ended_arg;
};

/** Are there so many stacks that a writer must make the answer? */
bool heavy_is(const struct answers *answers);
/** The same for the stacks of a heap. */
bool heavy_is_heap(const struct answers *answers);
/** The same for either. */
bool heavy_is_any(const struct answers *answers);
/** Start a writer, which heavy_take() or heavy_stop() must end. False:
 * none can be started now. */
bool heavy_start(struct answers *answers, struct writer *writer,
		 const struct heavy *heavy);
/** See writers_take(). */
bool heavy_take(struct answers *answers, struct writer *writer, void *result,
		size_t size);
/** See writers_stop(). */
void heavy_stop(struct answers *answers, struct writer *writer);

#endif
