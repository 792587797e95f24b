/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients of the server have asked for: kept until it can be answered, and written. */
#ifndef PMP_SINK_ANSWERS_H
#define PMP_SINK_ANSWERS_H

#include "serve/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct answers;
struct process;
struct serve_counts;
struct sink;

/** fd: messages of protocol.h; counts: what the server has answered itself. Both are borrowed,
 * as is the sink. NULL: no memory. */
struct answers *answers_new(struct sink *sink, int fd, const struct serve_counts *counts);
void answers_free(struct answers *answers);

/** A process is sampled from now on: what it was started as is read, while it is there. */
void answers_add_process(struct answers *answers, const struct process *process);
/** Something was asked; body is a descriptor, which stays the caller's, or -1. */
void answers_take(struct answers *answers, const struct serve_request *request, int body);
/** Forget all that was asked: there is another server. */
void answers_forget(struct answers *answers);
/** Answer what is due by now; with all, everything, with what there is. */
void answers_tend(struct answers *answers, bool all);
/** In ms: until something is due, at most `most`. */
int answers_timeout(const struct answers *answers, int most);

#endif
