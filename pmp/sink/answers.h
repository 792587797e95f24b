/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of the server's clients: kept until they can be answered. */
#ifndef PMP_SINK_ANSWERS_H
#define PMP_SINK_ANSWERS_H

#include "serve/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct answers;
struct process;
struct serve_counts;
struct sink;

/** fd: for messages of protocol.h; counts: of what the server answered itself. Both are
 * borrowed, as is the sink. NULL: no memory. */
struct answers *answers_new(struct sink *sink, int fd, const struct serve_counts *counts);
void answers_free(struct answers *answers);

/** A process is sampled from now on: read its command line while it exists. */
void answers_add_process(struct answers *answers, const struct process *process);
/** Take a request; body is a descriptor, which stays the caller's, or -1. */
void answers_take(struct answers *answers, const struct serve_request *request, int body);
/** Forget all requests: there is another server. */
void answers_forget(struct answers *answers);
/** Answer what is due; all: answer everything with what was recorded so far. */
void answers_tend(struct answers *answers, bool all);
/** The time in ms until something is due, at most `most`. */
int answers_timeout(const struct answers *answers, int most);

#endif
