/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See read-heap.h. Names come from a separate profile: the profile shown keeps only the
 * last snapshot of threads, and its symbolizer would keep everything that the census
 * refers to as long as it is shown.
 */
#include "view/read-heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/worker.h"
#include "sink/sink.h"
#include "source/source.h"
#include "view/session-state.h"

/* A census that is being named, or has been. */
struct heap_naming {
	struct job job;
	struct counting counting; /* kept while shown: the key w writes it */
	struct pmp_sample *sample;
	struct pmp_named_census *named; /* NULL: err says why */
	struct pmp_error err;
};

/* ---- names ------------------------------------------------------------------------- */

static int name(struct heap_naming *naming)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .snapshot = true };
	struct counting *counting = &naming->counting;
	struct pmp_report *report = NULL;
	int code = counting_open(counting, &naming->err);

	if (code >= 0)
		code = counting_add(counting, naming->sample, &naming->err);
	if (code >= 0)
		code = pmp_report_new(counting->profile, NULL, &options, &report,
				      &naming->err);
	if (code >= 0)
		code = pmp_named_census_new(report, &naming->named, &naming->err);
	pmp_report_free(report);
	return code;
}

static void work(void *arg)
{
	struct heap_naming *naming = arg;

	name(naming);
}

static void free_naming(struct heap_naming *naming)
{
	if (!naming)
		return;
	counting_close(&naming->counting);
	pmp_sample_free(naming->sample);
	pmp_named_census_free(naming->named);
	free(naming);
}

void read_heap_free(struct session *session)
{
	free_naming(session->heap_naming);
	free_naming(session->heap_shown);
	session->heap_naming = session->heap_shown = NULL;
}

const struct counting *read_heap_counting(const struct session *session)
{
	return session->heap_shown ? &session->heap_shown->counting : NULL;
}

static void show(struct session *session, struct heap_naming *naming)
{
	free_naming(session->heap_shown);
	session->heap_shown = naming;
	pmp_sample_free(naming->sample);
	naming->sample = NULL;
	model_set_census(&session->view.model, naming->named);
	naming->named = NULL;
	session->view.model.census.reading = 0;
}

static void show_none(struct session *session)
{
	free_naming(session->heap_shown);
	session->heap_shown = NULL;
	model_free_census(&session->view.model);
}

/* ---- the census arrives ------------------------------------------------------------ */

/* Earlier contents of the same process stay on the screen. */
static void refuse(struct session *session, const struct pmp_error *err)
{
	struct heap_census *census = &session->view.model.census;
	struct pmp_named_census_info shown = { .pid = 0 };

	census->reading = 0;
	snprintf(census->refusal, sizeof(census->refusal), "%s\n%s%s\n", err->message,
		 *err->hint ? "hint: " : "", err->hint);
	if (census->now)
		pmp_named_census_info(census->now, &shown);
	if (shown.pid == census->pid)
		view_say(&session->view, "%s", err->message);
	else
		show_none(session);
	session->heap_read = true;
}

/* The source has read a census, or failed. */
static void take_sample(void *arg, struct pmp_sample *sample, const struct pmp_error *err)
{
	struct session *session = arg;
	const struct counting *counting = session->sink->counting;
	struct pmp_error nomem = { .code = PMP_ENOMEM,
				   .message = "not enough memory to read a heap" };
	struct heap_naming *naming;

	if (!sample) {
		refuse(session, err);
		return;
	}
	naming = calloc(1, sizeof(*naming));
	if (!naming) {
		pmp_sample_free(sample);
		refuse(session, &nomem);
		return;
	}
	naming->job = (struct job){ .work = work, .arg = naming };
	naming->sample = sample;
	naming->counting = (struct counting){
		.options = counting->options,
		.command_line = counting->command_line,
		.host = counting->host,
		.needs.snapshots = true,
		.fetcher = counting->fetcher,
		.namer = counting->namer,
		.worker = counting->worker,
	};
	session->heap_naming = naming;
	if (!worker_submit(session->sink->worker, &naming->job)) {
		work(naming);
		naming->job.done = true;
	}
}

bool read_heap_take(struct session *session)
{
	struct heap_naming *naming = session->heap_naming;
	bool read = session->heap_read;

	session->heap_read = false;
	if (!naming || !worker_has_done(&naming->job))
		return read;
	session->heap_naming = NULL;
	if (naming->named) {
		show(session, naming);
	} else {
		refuse(session, &naming->err);
		free_naming(naming);
	}
	session->heap_read = false;
	return true;
}

/* ---- starting to read -------------------------------------------------------------- */

static pid_t first_process(const struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		if (!targets->processes[i].ended)
			return targets->processes[i].pid;
	return 0;
}

static bool is_there(const struct targets *targets, pid_t pid)
{
	const struct process *process = targets_find(targets, pid);

	return process && !process->ended;
}

void read_heap_begin(struct session *session, pid_t pid)
{
	struct heap_census *census = &session->view.model.census;
	struct source *source = session->sink->source;

	if (!is_there(&source->targets, pid))
		pid = first_process(&source->targets);
	if (!pid) {
		view_say(&session->view, "There is no process whose heap can be read");
		return;
	}
	census->pid = pid;
	census->reading = now_ns();
	source->type->census(source, pid, take_sample, session);
}
