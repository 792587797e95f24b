/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of what the recorder of --heap has written down. Without seconds they are of all since
 * the start, as servers of Go and gperftools have them; with seconds of what has changed from
 * the request on: then less may live than before.
 */
#ifndef PMP_SINK_HEAP_ANSWERS_H
#define PMP_SINK_HEAP_ANSWERS_H

#include "sink/answers-parts.h"

#include <stdbool.h>

/** Is one recorded? False: it has been refused. */
bool heap_answers_has(const struct answers *answers, const struct awaited *asked);
/** A page of what is recorded of a heap. False: it has been refused. True: it is a window, of
 * which asked->moment is what it was at its beginning, NULL: it is over at once. */
bool heap_answers_start(const struct answers *answers,
			const struct serve_request *request, struct awaited *asked);
/** Write one, as cutting_write(); what it covers is a time only if it is of a change. */
void heap_answers_write(void *arg);

#endif
