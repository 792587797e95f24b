/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that take long to make, as there are so many stacks: a writer makes them
 * (writers.h), so that samples and other clients do not wait. */
#ifndef PMP_SINK_HEAVY_H
#define PMP_SINK_HEAVY_H

#include "sink/answers-parts.h"

#include <stdbool.h>
#include <stddef.h>

struct heavy {
	void (*write)(void *arg); /* in the writer */
	void *arg;
	const void *result; /* what that sets, its last words */
	size_t size;
	void (*on_written)(void *ended_arg, short revents); /* here, when it has ended */
	void *ended_arg;
};

/** Are there so many stacks, and may a writer make what is asked of them? */
bool heavy_is(const struct answers *answers);
/** The same of the stacks of a heap. */
bool heavy_is_heap(const struct answers *answers);
/** Or of both. */
bool heavy_is_any(const struct answers *answers);
/** Start a writer, to be taken by heavy_take() or stopped by heavy_stop(). False: there is
 * none now. */
bool heavy_start(struct answers *answers, struct writer *writer,
		 const struct heavy *heavy);
/** See writers_take(). */
bool heavy_take(struct answers *answers, struct writer *writer, void *result,
		size_t size);
/** See writers_stop(). */
void heavy_stop(struct answers *answers, struct writer *writer);

#endif
