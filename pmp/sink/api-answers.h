/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the page asks for, and names at addresses (api.h). Whoever asks for the same page gets
 * the same answer: one that was made a moment ago, or the one that is being made. What takes
 * long is made by writers (heavy.h), of which two at most are at work for these; the others
 * wait for their turn.
 */
#ifndef PMP_SINK_API_ANSWERS_H
#define PMP_SINK_API_ANSWERS_H

#include "sink/answers-parts.h"

/** Answer, or let it wait; body is a descriptor, which stays the caller's, or -1.
 * asked->filter is NULL if it has been taken over. */
void api_answers_begin(struct answers *answers, const struct serve_request *request,
		       struct awaited *asked, int body);
/** Start those that can be; all: answer all of them. */
void api_answers_tend(struct answers *answers, bool all);
/** In ms: when to tend them again, at most `most`. */
int api_answers_timeout(const struct answers *answers, int most);
/** A client has gone; 0: all of them. */
void api_answers_cancel(struct answers *answers, uint32_t id);

#endif
