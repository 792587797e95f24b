/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --locks=check: writes no output; messages and the exit status tell
 * whether there is a deadlock. */
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "run/counting.h"
#include "say/message.h"
#include "sink/sink.h"
#include "source/source.h"

#define LINE_SIZE 900	  /* fits into a message */
#define DEADLOCKS_MAX 100 /* reported at most */

struct lock_check {
	struct pmp_profile *profile;
	char *lines[DEADLOCKS_MAX]; /* one per deadlock, without duplicates */
	size_t count, said;
	size_t unread;	 /* threads of the last core whose wait cannot be read */
	bool incomplete; /* any core had such threads */
	int code;
	struct pmp_error err;
};

static bool is_meant(const struct options *options)
{
	return options->check_locks;
}

static void needs(const struct options *options, struct counting_needs *needs)
{
	(void)options;
	needs->snapshots = true;
}

static int open_check(struct sink *sink)
{
	sink->check = calloc(1, sizeof(*sink->check));
	if (sink->check)
		return 0;
	message_print(NULL, "not enough memory for the list of deadlocks");
	return PMP_EXIT_FAILED;
}

static bool is_known(const struct lock_check *check, const char *line)
{
	for (size_t i = 0; i < check->count; i++) {
		if (strcmp(check->lines[i], line) == 0)
			return true;
	}
	return false;
}

/* Ignores the filters of the options: these only select what is shown. */
static void find_deadlocks(void *arg)
{
	const struct pmp_report_options options = {
		.size = sizeof(options),
		.snapshot = true,
	};
	struct lock_check *check = arg;
	struct pmp_report *report;
	char line[LINE_SIZE];

	check->code =
		pmp_report_new(check->profile, NULL, &options, &report, &check->err);
	if (check->code < 0)
		return;
	for (size_t i = 0; check->count < DEADLOCKS_MAX &&
			   pmp_report_deadlock(report, i, line, sizeof(line));
	     i++) {
		if (is_known(check, line))
			continue;
		check->lines[check->count] = strdup(line);
		if (!check->lines[check->count])
			break;
		check->count++;
	}
	check->unread = pmp_report_unread_waits(report);
	check->incomplete |= check->unread > 0;
	pmp_report_free(report);
}

/* Runs in the worker, as names are read from files. */
static void sampled(struct sink *sink)
{
	struct lock_check *check = sink->check;

	check->profile = sink->counting->profile;
	sink->calls->work(sink->run, find_deadlocks, check);
	if (check->code < 0) {
		message_error(&check->err);
		sink->calls->fail(sink->run, PMP_EXIT_FAILED);
	}
	for (; check->said < check->count; check->said++)
		message_print(NULL, "deadlock in %s", check->lines[check->said]);
	if (check->unread)
		message_print(
			NULL,
			"deadlocks may be missing: what %zu thread%s for cannot be read",
			check->unread, check->unread == 1 ? " waits" : "s wait");
}

static void finish(struct sink *sink)
{
	if (sink->check->count || sink->check->incomplete)
		sink->calls->fail(sink->run, PMP_EXIT_FAILED);
}

static void close_check(struct sink *sink)
{
	for (size_t i = 0; sink->check && i < sink->check->count; i++)
		free(sink->check->lines[i]);
	free(sink->check);
	sink->check = NULL;
}

/* A core file is one sample, and that has now been read. */
static void targets(struct sink *sink, const struct process *process)
{
	(void)process;
	if (sink->source->type->saved)
		sampled(sink);
}

static void boundary(struct sink *sink, uint64_t time)
{
	(void)sink;
	(void)time;
}

static void nothing(struct sink *sink)
{
	(void)sink;
}

static int nothing_to_prepare(struct sink *sink)
{
	(void)sink;
	return 0;
}

static int any_time(const struct sink *sink, int most)
{
	(void)sink;
	return most;
}

static bool never_stays(struct sink *sink)
{
	(void)sink;
	return false;
}

const struct sink_type sink_lock_check = {
	.name = "lock-check",
	.is_meant = is_meant,
	.needs = needs,
	.prepare = nothing_to_prepare,
	.open = open_check,
	.start = nothing,
	.targets = targets,
	.boundary = boundary,
	.sampled = sampled,
	.show = nothing,
	.tend = nothing,
	.timeout = any_time,
	.suspend = nothing,
	.resume = nothing,
	.stays = never_stays,
	.leave = nothing,
	.finish = finish,
	.close = close_check,
};
