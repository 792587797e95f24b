/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers to requests of the page, and for names of addresses (api.h). Equal requests get
 * the same answer: one made a moment ago, or the one being made. Slow answers are made by
 * writers (heavy.h), at most two at a time; the others wait for their turn.
 */
#ifndef PMP_SINK_API_ANSWERS_H
#define PMP_SINK_API_ANSWERS_H

#include "sink/answers-parts.h"

/** Answer, or queue the request; body is a descriptor, which stays the caller's, or -1.
 * asked->filter becomes NULL if its ownership was taken. */
void api_answers_begin(struct answers *answers, const struct serve_request *request,
		       struct awaited *asked, int body);
/** Start queued answers if possible; all: answer all of them. */
void api_answers_tend(struct answers *answers, bool all);
/** The time in ms until api_answers_tend() must be called again, at most `most`. */
int api_answers_timeout(const struct answers *answers, int most);
/** A client is gone; id 0: all of them are. */
void api_answers_cancel(struct answers *answers, uint32_t id);

#endif
