/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/request-log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/clock.h"
#include "say/message.h"
#include "serve/counts.h"

#define MINUTE (60 * NS_PER_S)
#define LINES_MAX 600 /* a minute, so that no client can fill the disk */

/* "GET /api/state?...", "GET /pid/4100/api/tree?...": the page sends these each second. */
static bool is_of_api(const char *query)
{
	const char *path = strchr(query, '/');

	if (path && strncmp(path, "/pid/", 5) == 0)
		path = strchr(path + 5, '/');
	return path && strncmp(path, "/api/", 5) == 0;
}

/* When a minute is over, log the number of requests that were not logged in it. */
static void end_minute(struct request_log *log, uint64_t now)
{
	if (now < log->minute)
		return;
	if (log->more)
		message_log(false, "more requests: %u", log->more);
	log->minute = now + MINUTE;
	log->lines = log->more = 0;
}

void request_log_add(struct request_log *log, const struct serve_request *served)
{
	char user[32] = "user unknown";

	/* The server is not trusted. */
	if (!serve_request_ends(served) || is_of_api(served->query))
		return;
	end_minute(log, now_ns());
	if (log->lines++ >= LINES_MAX) {
		if (!log->more++)
			message_log(false, "more than %d requests in a minute",
				    LINES_MAX);
		return;
	}
	if (served->has_user)
		snprintf(user, sizeof(user), "uid %" PRIu32, served->user);
	message_log(false, "%s, %s: %s: %" PRIu32 ", %" PRIu64 " bytes", served->peer,
		    user, served->query, served->status, served->length);
}

/* Counts requests that were refused for who sent them, not for what they ask. */
static uint64_t count_refused(const struct serve_counts *counts)
{
	uint64_t count = 0;

	for (size_t i = 0; counts_status(i); i++) {
		const int status = counts_status(i);

		for (size_t row = 0; row < COUNTS_PAGES; row++)
			if (status == 401 || status == 403 || status == 421)
				count += counts->requests[row][i];
	}
	return count;
}

void request_log_tend(struct request_log *log, const struct serve_counts *counts)
{
	const uint64_t now = now_ns();
	uint64_t count;

	if (log->more)
		end_minute(log, now);
	if (now < log->next)
		return;
	count = count_refused(counts);
	if (count == log->refused)
		return;
	message_log(false, "requests refused: %" PRIu64, count - log->refused);
	log->refused = count;
	log->next = now + MINUTE;
}
