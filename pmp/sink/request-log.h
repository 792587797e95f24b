/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests in the log of --log: a line for each one granted, up to 600 a minute, and
 * the number of further ones; and the number of refused ones, at most once a minute.
 * Tokens are never logged. */
#ifndef PMP_SINK_REQUEST_LOG_H
#define PMP_SINK_REQUEST_LOG_H

#include "serve/protocol.h"

#include <stdint.h>

struct serve_counts;

struct request_log {
	uint64_t refused;     /* logged so far */
	uint64_t next;	      /* ns: when they may be logged again */
	uint64_t minute;      /* ns: the end of the current minute */
	unsigned lines, more; /* in this minute: logged, and not logged */
};

/** Log a served request, a message SERVE_SERVED. Requests of the page
 * each second are left out. */
void request_log_add(struct request_log *log, const struct serve_request *served);
/** Log how many were refused since the last time. */
void request_log_tend(struct request_log *log, const struct serve_counts *counts);

#endif
