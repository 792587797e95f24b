/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --log says of requests: a line for each that was granted, up to 600 a minute, and how
 * many more there were; and how many were refused, at most once a minute. A token is never in
 * it. */
#ifndef PMP_SINK_REQUEST_LOG_H
#define PMP_SINK_REQUEST_LOG_H

#include "serve/protocol.h"

#include <stdint.h>

struct serve_counts;

struct request_log {
	uint64_t refused;     /* that are in the log */
	uint64_t next;	      /* ns: when the next line about them may come */
	uint64_t minute;      /* ns: its end; in which there were so many: */
	unsigned lines, more; /* in the log, and not */
};

/** Log what was served: a message SERVE_SERVED. What a page asks each second is left out. */
void request_log_add(struct request_log *log, const struct serve_request *served);
/** Log what was refused since the last time. */
void request_log_tend(struct request_log *log, const struct serve_counts *counts);

#endif
