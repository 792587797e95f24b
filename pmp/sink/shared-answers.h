/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers are kept for a second, or for twice the time that they took. Equal requests get
 * the same answer, so that ten open pages cost no more than one. */
#ifndef PMP_SINK_SHARED_ANSWERS_H
#define PMP_SINK_SHARED_ANSWERS_H

#include "serve/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct shared_answers;

/** NULL: no memory. */
struct shared_answers *shared_answers_new(void);
void shared_answers_free(struct shared_answers *answers);
/** A file with a recent answer to that request, at time now (ns); -1:
 * there is none. Borrowed. */
int shared_answers_find(const struct shared_answers *answers,
			const struct serve_request *asked, uint64_t now);
/** Do both ask for the same? */
bool shared_answers_is_same(const struct serve_request *one,
			    const struct serve_request *other);
/** Keep an answer that took so long (ns); takes ownership of file. */
void shared_answers_keep(struct shared_answers *answers,
			 const struct serve_request *asked, uint64_t now, uint64_t took,
			 int file);

#endif
