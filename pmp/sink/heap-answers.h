/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of what the recorder of --heap has recorded. Without seconds they cover everything
 * since the start, as in servers of Go and gperftools; with seconds, the change since the
 * request, which may be negative for live memory.
 */
#ifndef PMP_SINK_HEAP_ANSWERS_H
#define PMP_SINK_HEAP_ANSWERS_H

#include "sink/answers-parts.h"

#include <stdbool.h>

/** Is a heap recorded? False: the request was refused. */
bool heap_answers_has(const struct answers *answers, const struct awaited *asked);
/** Start a page of a recorded heap. False: the request was refused. True: it is a window,
 * with the heap at its beginning in asked->moment; NULL: the window is over at once. */
bool heap_answers_start(const struct answers *answers,
			const struct serve_request *request, struct awaited *asked);
/** Write such a page, like cutting_write(); `covered` has a time only if
 * the page is of a change. */
void heap_answers_write(void *arg);

#endif
