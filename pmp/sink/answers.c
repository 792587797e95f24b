/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See answers.h. A window is cut out of the history that the profile keeps, once the time
 * of the window is over. */
#include "sink/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/run-state.h"
#include "sink/answer-text.h"
#include "sink/answers-parts.h"
#include "sink/api.h"
#include "sink/feeds.h"
#include "sink/heap-answers.h"
#include "sink/metrics.h"
#include "sink/lookup.h"
#include "sink/api-answers.h"
#include "sink/shared-answers.h"
#include "sink/sink.h"
#include "sink/timeline.h"
#include "sink/write-options.h"
#include "source/source.h"

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct answers *answers_new(struct sink *sink, int fd, const struct serve_counts *counts)
{
	struct answers *answers = calloc(1, sizeof(*answers));

	if (!answers)
		return NULL;
	answers->sink = sink;
	answers->fd = fd;
	answers->counts = counts;
	answers->start = now_ns();
	answers->interval = sink->options->interval;
	answers->writers.own = sink->state->own;
	answers->commands = command_lines_new();
	answers->feeds = feeds_new();
	answers->timeline = timeline_new(answers->start);
	answers->lookup = lookup_new(sink);
	answers->shared = shared_answers_new();
	if (answers->commands && answers->feeds && answers->timeline && answers->lookup &&
	    answers->shared)
		return answers;
	answers_free(answers);
	return NULL;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	windows_free(answers);
	api_answers_cancel(answers, 0);
	command_lines_free(answers->commands);
	feeds_free(answers->feeds);
	timeline_free(answers->timeline);
	lookup_free(answers->lookup);
	shared_answers_free(answers->shared);
	free(answers);
}

/* A job for the worker: reading blocks while the process changes its memory map. */
struct command_line_reading {
	struct command_lines *lines;
	pid_t pid;
};

static void read_command_line(void *arg)
{
	const struct command_line_reading *reading = arg;

	command_lines_read(reading->lines, reading->pid);
}

void answers_add_process(struct answers *answers, const struct process *process)
{
	struct command_line_reading reading = { answers->commands, process->pid };
	const struct sink *sink = answers->sink;

	sink->calls->work(sink->run, read_command_line, &reading);
}

void answers_forget(struct answers *answers)
{
	windows_cancel(answers, 0);
	api_answers_cancel(answers, 0);
}

/* ---- sending ------------------------------------------------------------------------ */

/* An error is ignored: the server is gone then, and its clients with it. */
static void send_answer(const struct answers *answers, struct serve_answer *answer,
			int body)
{
	answer->message = SERVE_ANSWER;
	serve_send(answers->fd, answer, sizeof(*answer), body);
}

void answers_refuse(const struct answers *answers, uint32_t id, uint32_t status,
		    const char *format, ...)
{
	struct serve_answer answer = { .id = id, .status = status };
	va_list args;

	va_start(args, format);
	vsnprintf(answer.reason, sizeof(answer.reason), format, args);
	va_end(args);
	send_answer(answers, &answer, -1);
}

void answers_fail(const struct answers *answers, uint32_t id, const struct pmp_error *err,
		  int code)
{
	answers_refuse(answers, id, code == PMP_ELIMIT ? 400 : 500, "%s%s%s",
		       err->message, *err->hint ? ": " : "", err->hint);
}

void answers_refuse_memory(const struct answers *answers, uint32_t id)
{
	answers_refuse(answers, id, 500, "there is no memory for the answer");
}

void answers_send(const struct answers *answers, uint32_t id, int body,
		  const char *window)
{
	struct serve_answer answer = { .id = id, .status = 200 };
	off_t length = lseek(body, 0, SEEK_END);

	answer.length = length > 0 ? (uint64_t)length : 0;
	snprintf(answer.window, sizeof(answer.window), "%s", window);
	fcntl(body, F_ADD_SEALS, ALL_SEALS);
	send_answer(answers, &answer, body);
}

/* Names tell which threads wait for locks; each stack is looked up once. */
static void tend_timeline(struct answers *answers)
{
	const struct sink *sink = answers->sink;

	if (timeline_is_due(answers->timeline, &sink->source->targets) &&
	    lookup_knows_locks_soon(answers->lookup))
		timeline_add(answers->timeline, sink->counting->profile,
			     &sink->source->targets, sink->options->interval);
}

/* Wait for names, whose look-up has begun with the request. */
static void end_all(struct answers *answers)
{
	if (windows_count(answers) || answers->pages)
		lookup_await(answers->lookup);
}

void answers_tend(struct answers *answers, bool all)
{
	/* First, as it may start a look-up of names. */
	tend_timeline(answers);
	if (all)
		end_all(answers);
	windows_tend(answers, all);
	api_answers_tend(answers, all);
}

int answers_timeout(const struct answers *answers, int most)
{
	return api_answers_timeout(answers, windows_timeout(answers, most));
}

/* ---- other pages --------------------------------------------------------------------- */

static void answer_health(const struct answers *answers, uint32_t id)
{
	const struct targets *targets = &answers->sink->source->targets;
	int body;

	if (!targets->count || !targets->snapshots) {
		answers_refuse(answers, id, 503, "nothing is sampled");
		return;
	}
	body = answer_text_new("ok\n");
	if (body < 0) {
		answers_refuse_memory(answers, id);
		return;
	}
	answers_send(answers, id, body, "");
	close(body);
}

static void answer_command(const struct answers *answers, const struct awaited *asked)
{
	const struct sink *sink = answers->sink;
	const struct targets *targets = &sink->source->targets;
	struct command_line_reading reading = { .lines = answers->commands };
	const struct process *process;
	pid_t pid = asked->pid;
	int body;

	if (!pid && targets->count)
		pid = targets->processes[0].pid;
	process = targets_find(targets, pid);
	/* Read again, as it may have executed another program; but not after its end, as
	 * its pid may be reused: then the last one read is used. */
	reading.pid = pid;
	if (process && !process->ended)
		sink->calls->work(sink->run, read_command_line, &reading);
	body = command_lines_answer(answers->commands, pid,
				    sink->options->serve_no_cmdline,
				    asked->page->family == PAGES_OF_GPERFTOOLS);
	if (body < 0) {
		answers_refuse(answers, asked->id, 410, "its command line is not known");
		return;
	}
	answers_send(answers, asked->id, body, "");
	close(body);
}

/* A job for the worker: write the last snapshots. */
struct stacks_request {
	const struct sink *sink;
	const struct awaited *asked;
	const struct pmp_filter *filter;
	int file, code;
	size_t written; /* processes */
	struct pmp_error err;
};

/* A process that has ended meanwhile has no snapshot any more. */
static void write_process(struct stacks_request *request, pid_t pid)
{
	const struct options *options = request->sink->options;
	const struct pmp_report_options snapshot = { .size = sizeof(snapshot),
						     .snapshot = true,
						     .pid = pid };
	const struct pmp_write_options write = write_options(options, false);
	const struct pmp_sink sink = { answer_text_put, &request->file };
	struct pmp_report *report = NULL;
	int code = pmp_report_new(request->sink->counting->profile, request->filter,
				  &snapshot, &report, &request->err);

	if (code == PMP_ESRCH)
		return;
	if (code == 0 && request->written++)
		code = answer_text_write(request->file, "\n", 1) < 0 ? PMP_ENOMEM : 0;
	if (code == 0)
		code = pmp_report_write(report, request->asked->format, &write, &sink,
					&request->err);
	pmp_report_free(report);
	request->code = code;
}

static void write_stacks(void *arg)
{
	struct stacks_request *request = arg;
	const struct targets *targets = &request->sink->source->targets;
	const pid_t asked = request->asked->pid;

	for (size_t i = 0; i < targets->count && request->code == 0; i++) {
		const struct process *process = &targets->processes[i];

		if (process->snapshots && (!asked || asked == process->pid))
			write_process(request, process->pid);
	}
}

void answers_stacks(const struct answers *answers, const struct awaited *asked)
{
	const struct sink *sink = answers->sink;
	struct stacks_request request = { .sink = sink,
					  .asked = asked,
					  .filter = windows_filter(answers, asked),
					  .file = answer_text_new("") };

	if (request.file < 0) {
		answers_refuse_memory(answers, asked->id);
		return;
	}
	sink->calls->work(sink->run, write_stacks, &request);
	if (request.code < 0)
		answers_fail(answers, asked->id, &request.err, request.code);
	else if (!request.written)
		answers_refuse(answers, asked->id, 503, "nothing is sampled yet");
	else
		answers_send(answers, asked->id, request.file, "");
	close(request.file);
}

/* A job for the worker: write the metrics. */
struct metrics_request {
	const struct sink *sink;
	struct metrics_server server;
	int file, code;
};

static void write_metrics(void *arg)
{
	struct metrics_request *request = arg;

	struct pmp_symbolizer *symbolizer = request->sink->counting->symbolizer;

	pmp_symbolizer_only_known(symbolizer, true);
	request->code = metrics_write(request->sink, &request->server, request->file);
	pmp_symbolizer_only_known(symbolizer, false);
}

static void answer_metrics(const struct answers *answers, uint32_t id)
{
	const struct sink *sink = answers->sink;
	struct metrics_request request = {
		.sink = sink,
		.server = { answers->counts, windows_count(answers),
			    answers->writers.started },
		.file = answer_text_new(""),
		.code = -ENOMEM,
	};

	lookup_knows_locks(answers->lookup);
	if (request.file >= 0)
		sink->calls->work(sink->run, write_metrics, &request);
	if (request.code == 0)
		answers_send(answers, id, request.file, "");
	else
		answers_refuse_memory(answers, id);
	if (request.file >= 0)
		close(request.file);
}

static void answer_targets(const struct answers *answers,
			   const struct serve_request *request)
{
	int file;

	if (!*request->query) {
		answers_refuse(answers, request->id, 400,
			       "where? The request has no Host");
		return;
	}
	file = answer_text_new("");
	if (file >= 0 && metrics_write_targets(answers->sink, request->query, file) == 0)
		answers_send(answers, request->id, file, "");
	else
		answers_refuse_memory(answers, request->id);
	if (file >= 0)
		close(file);
}

/* ---- requests ------------------------------------------------------------------------- */

/* The first process that matches; one that has ended only if no other does. */
static const struct process *find_process(const struct targets *targets,
					  const struct serve_request *request)
{
	const struct process *found = NULL;

	for (size_t i = 0; i < targets->count; i++) {
		const struct process *process = &targets->processes[i];

		if ((request->pid && process->pid != request->pid) ||
		    (*request->name && strcmp(process->name, request->name) != 0))
			continue;
		if (!process->ended)
			return process;
		if (!found)
			found = process;
	}
	return found;
}

/* "/pid/4100 (mariadbd), /pid/4101 (postgres)" */
static void list_processes(const struct targets *targets, char *text, size_t size)
{
	const bool all = targets_living(targets) == 0;
	char name[EVENT_NAME_SIZE * 4];
	size_t length = 0;

	*text = '\0';
	for (size_t i = 0; i < targets->count && length < size; i++) {
		const struct process *process = &targets->processes[i];

		if (all || !process->ended)
			length += (size_t)snprintf(
				text + length, size - length, "%s/pid/%d (%s)",
				length ? ", " : "", (int)process->pid,
				pmp_escape(process->name, name, sizeof(name)));
	}
}

/* Set asked->pid, 0: all processes. False: the request was refused. */
static bool choose_process(const struct answers *answers,
			   const struct serve_request *request, struct awaited *asked)
{
	const struct targets *targets = &answers->sink->source->targets;
	const struct process *process = find_process(targets, request);
	char list[ROUTE_REASON_SIZE];

	if ((request->pid || *request->name) && !process) {
		answers_refuse(answers, request->id, 404, "no such process is sampled");
		return false;
	}
	if (request->pid || *request->name) {
		asked->pid = process->pid;
	} else if (asked->page->family == PAGES_OF_GPERFTOOLS && targets->count > 1) {
		if (targets_living(targets) == 1) {
			asked->pid = find_process(targets, request)->pid;
			return true;
		}
		list_processes(targets, list, sizeof(list));
		answers_refuse(answers, request->id, 400, "which process? %s", list);
		return false;
	}
	return true;
}

static bool is_time(int64_t ms)
{
	return ms >= -ROUTE_TIME_MAX && ms <= ROUTE_TIME_MAX;
}

static bool is_within(const struct serve_request *request)
{
	return request->milliseconds <= ROUTE_SECONDS_MAX * 1000 &&
	       request->px <= ROUTE_PX_MAX && request->nodes <= ROUTE_NODES_MAX &&
	       request->hz <= ROUTE_HZ_MAX && request->labels <= PMP_LABELS_NONE + 1 &&
	       request->selection.idle <= PMP_IDLE_COUNT &&
	       request->selection.tid <= INT32_MAX && is_time(request->from) &&
	       is_time(request->to);
}

/* Validate the request: the server is not trusted, as it parses what strangers send. */
static bool understand(const struct serve_request *request, struct awaited *asked)
{
	asked->id = request->id;
	asked->page = page_row(request->page);
	asked->to_target = request->to_target;
	if (!asked->page || !serve_request_ends(request) || !is_within(request))
		return false;
	asked->format = pmp_format_find(request->format);
	return asked->format ||
	       (asked->page->kind != PAGE_WINDOW && asked->page->kind != PAGE_SNAPSHOT &&
		asked->page->kind != PAGE_STACKS && asked->page->kind != PAGE_HEAP);
}

static void begin_window(struct answers *answers, const struct serve_request *request,
			 struct awaited *asked)
{
	windows_begin(answers, request, asked);
	asked->filter = NULL;
}

static void answer(struct answers *answers, const struct serve_request *request,
		   struct awaited *asked, int body)
{
	switch (asked->page->kind) {
	case PAGE_CMDLINE: answer_command(answers, asked); break;
	case PAGE_METRICS: answer_metrics(answers, request->id); break;
	case PAGE_TARGETS: answer_targets(answers, request); break;
	case PAGE_HEAP_TREE:
		if (heap_answers_has(answers, asked))
			api_answers_begin(answers, request, asked, body);
		break;
	case PAGE_HEAP:
		if (heap_answers_start(answers, request, asked))
			begin_window(answers, request, asked);
		break;
	case PAGE_STACKS:
	case PAGE_WINDOW:
	case PAGE_SNAPSHOT: begin_window(answers, request, asked); break;
	default: api_answers_begin(answers, request, asked, body); break;
	}
}

static void cancel(struct answers *answers, uint32_t id)
{
	windows_cancel(answers, id);
	api_answers_cancel(answers, id);
}

void answers_take(struct answers *answers, const struct serve_request *request, int body)
{
	struct awaited asked = { 0 };

	if (request->message == SERVE_CANCEL)
		cancel(answers, request->id);
	else if (request->message == SERVE_WRITTEN)
		feeds_written(answers->feeds, request->id);
	else if (!understand(request, &asked))
		answers_refuse(answers, request->id, 500, "the request makes no sense");
	else if (asked.page->kind == PAGE_HEALTH)
		answer_health(answers, request->id);
	else if (choose_process(answers, request, &asked) &&
		 windows_select(answers, request, &asked))
		answer(answers, request, &asked, body);
	pmp_filter_free(asked.filter);
}
