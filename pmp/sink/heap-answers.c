/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/heap-answers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "sink/answer-text.h"
#include "sink/cutting.h"
#include "sink/sink.h"
#include "sink/write-options.h"
#include "source/source.h"

#define MOMENTS_MAX 8 /* each takes 48 bytes per stack */
#define QUOTED_SIZE (EVENT_NAME_SIZE * 4)

static int write_report(struct cutting *cutting)
{
	const struct awaited *asked = cutting->awaited;
	const struct sink *sink = cutting->answers->sink;
	const struct pmp_report_options heap = { .size = sizeof(heap),
						 .heap = true,
						 .heap_value = asked->page->value,
						 .heap_age = sink->options->heap.age,
						 .heap_now = now_ns,
						 .heap_since = asked->moment };
	struct pmp_write_options write = write_options(sink->options, false);
	const struct pmp_sink file = { answer_text_put, &cutting->body };
	struct pmp_report *report = NULL;
	int code = pmp_report_new(sink->counting->profile,
				  windows_filter(cutting->answers, asked), &heap, &report,
				  &cutting->written.err);

	/* Ages and sizes are numeric labels: they do not become series of a scraper. */
	write.labels =
		asked->labels == PMP_LABELS_NONE ? PMP_LABELS_NONE : PMP_LABELS_ALL;
	write.since_start = !asked->moment;
	if (code == 0)
		code = pmp_report_write(report, asked->format, &write, &file,
					&cutting->written.err);
	pmp_report_free(report);
	return code;
}

void heap_answers_write(void *arg)
{
	struct cutting *cutting = arg;

	if (cutting->awaited->moment) {
		cutting->written.covered.from = cutting->awaited->from;
		cutting->written.covered.to = cutting->awaited->to;
	}
	cutting->written.code = write_report(cutting);
}

/* ---- the beginning of a page ------------------------------------------------------ */

static const struct process *only_process(const struct targets *targets, pid_t pid)
{
	if (!pid)
		return targets->count == 1 ? &targets->processes[0] : NULL;
	return targets_find(targets, pid);
}

static void refuse_unrecorded(const struct answers *answers, const struct awaited *asked)
{
	const struct process *process =
		only_process(&answers->sink->source->targets, asked->pid);
	char name[QUOTED_SIZE];

	if (process)
		answers_refuse(
			answers, asked->id, 501,
			"%s [%d] was not started with a recorder: what it has "
			"allocated is not recorded; start it with pmp --heap "
			"-- COMMAND, or see what its heap holds: pmp -f objects -p %d",
			pmp_escape(process->name, name, sizeof(name)), (int)process->pid,
			(int)process->pid);
	else
		answers_refuse(
			answers, asked->id, 501,
			"these processes were not started with a recorder: what they "
			"have allocated is not recorded; start them with pmp "
			"--heap -- COMMAND, or see what a heap holds: pmp -f objects "
			"-p PID");
}

bool heap_answers_has(const struct answers *answers, const struct awaited *asked)
{
	if (!answers->sink->options->heap.on)
		refuse_unrecorded(answers, asked);
	return answers->sink->options->heap.on;
}

static size_t count_moments(const struct answers *answers)
{
	size_t count = 0;

	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		count += answers->all[i].moment != NULL;
	return count;
}

struct moment_request {
	const struct sink *sink;
	struct pmp_heap_base *moment;
	int code;
	struct pmp_error err;
};

static void take_moment(void *arg)
{
	struct moment_request *request = arg;

	request->code = pmp_profile_heap_base(request->sink->counting->profile, now_ns(),
					      request->sink->options->heap.age,
					      &request->moment, &request->err);
}

static bool start_change(const struct answers *answers, struct awaited *asked)
{
	const struct sink *sink = answers->sink;
	struct moment_request request = { .sink = sink };

	sink->calls->work(sink->run, take_moment, &request);
	if (request.code < 0)
		answers_fail(answers, asked->id, &request.err, request.code);
	asked->moment = request.moment;
	return request.code == 0;
}

/* Does the format only have totals since the start? */
static bool is_of_all(const struct awaited *asked)
{
	return strcmp(asked->format->name, "memory") == 0;
}

bool heap_answers_start(const struct answers *answers,
			const struct serve_request *request, struct awaited *asked)
{
	const bool past = request->past || *request->feed || request->has_times;

	if (!heap_answers_has(answers, asked))
		return false;
	if (past && (request->milliseconds || request->has_times))
		answers_refuse(
			answers, asked->id, 400,
			"of the past of a heap nothing is kept: ask for seconds= from "
			"now on, without /past, /feed, from and to");
	else if (request->milliseconds && is_of_all(asked))
		answers_refuse(answers, asked->id, 400,
			       "%s is of all since the start: ask without seconds=",
			       asked->page->path);
	else if (request->milliseconds && count_moments(answers) >= MOMENTS_MAX)
		answers_refuse(answers, asked->id, 503,
			       "%d changes of the heap are being recorded", MOMENTS_MAX);
	else
		return !request->milliseconds || start_change(answers, asked);
	return false;
}
