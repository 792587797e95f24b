/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of the last second, or of twice the time that it took to make them: who asks the
 * same again gets the same, so that ten pages that look on cost no more than one. */
#ifndef PMP_SINK_SHARED_ANSWERS_H
#define PMP_SINK_SHARED_ANSWERS_H

#include "serve/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct shared_answers;

/** NULL: no memory. */
struct shared_answers *shared_answers_new(void);
void shared_answers_free(struct shared_answers *answers);
/** A file with what was answered to that at now (ns) or shortly before; -1: there is none. It
 * stays theirs. */
int shared_answers_find(const struct shared_answers *answers,
			const struct serve_request *asked, uint64_t now);
/** Is it the same that is asked for? */
bool shared_answers_is_same(const struct serve_request *one,
			    const struct serve_request *other);
/** Keep an answer that it took so long to make (ns); file is theirs from now on. */
void shared_answers_keep(struct shared_answers *answers,
			 const struct serve_request *asked, uint64_t now, uint64_t took,
			 int file);

#endif
