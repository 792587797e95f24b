/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See api.h. */
#include "sink/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "sink/answer-text.h"
#include "sink/metrics.h"
#include "sink/sink.h"
#include "sink/timeline.h"
#include "source/source.h"

#define COMMAND_SIZE 4096
#define QUOTED_SIZE (4 * COMMAND_SIZE)

static int no_memory(struct pmp_error *err)
{
	snprintf(err->message, sizeof(err->message), "there is no memory for the answer");
	return err->code = PMP_ENOMEM;
}

static int64_t ms_since(const struct api_request *request, uint64_t time)
{
	return ((int64_t)time - (int64_t)request->start) / (int64_t)NS_PER_MS;
}

/* Write an answer by means of stdio. */
static int write_with(const struct api_request *request,
		      void (*put)(FILE *out, const struct api_request *request),
		      struct pmp_error *err)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int code = 0;

	if (!out)
		return no_memory(err);
	put(out, request);
	if (fclose(out) != 0 || answer_text_write(request->file, text, length) < 0)
		code = no_memory(err);
	free(text);
	return code;
}

static void put_string(FILE *out, const char *before, const char *text)
{
	char quoted[QUOTED_SIZE];

	fprintf(out, "%s\"%s\"", before, answer_text_quote(text, quoted, sizeof(quoted)));
}

/* ---- state -------------------------------------------------------------------------- */

/* The words of the command line with spaces between them. */
static void put_command(FILE *out, const struct api_request *request, pid_t pid)
{
	char text[COMMAND_SIZE + 1] = "";
	size_t length = 0;
	const char *line = command_lines_get(request->commands, pid, &length);

	if (line && length <= COMMAND_SIZE) {
		memcpy(text, line, length);
		text[length] = '\0';
		if (length && !text[length - 1])
			length--;
		for (size_t i = 0;
		     i < length && !request->sink->options->serve_no_cmdline; i++)
			text[i] = text[i] ? text[i] : ' ';
	}
	put_string(out, ",\"command\":", text);
}

static void put_targets(FILE *out, const struct api_request *request)
{
	const struct targets *targets = &request->sink->source->targets;
	bool first = true;

	fputs(",\n\"targets\":[", out);
	for (size_t i = 0; i < targets->count; i++) {
		const struct process *process = &targets->processes[i];

		if (request->pid && process->pid != request->pid)
			continue;
		fprintf(out, "%s{\"pid\":%d", first ? "" : ",\n", (int)process->pid);
		put_string(out, ",\"name\":", process->name);
		put_command(out, request, process->pid);
		fprintf(out, ",\"threads\":%" PRIu64 ",\"up\":%s}", process->threads,
			process->snapshots && !process->ended ? "true" : "false");
		first = false;
	}
	fputc(']', out);
}

static void put_cost(FILE *out, const struct pmp_profile_info *info)
{
	const uint64_t time = info->last_time - info->first_time;

	fprintf(out, ",\n\"stops\":{\"p50\":%.9f,\"p99\":%.9f,\"any\":%.6f}",
		(double)info->stopped_p50 / 1e9, (double)info->stopped_p99 / 1e9,
		time ? (double)info->any_stopped / (double)time : 0);
	fprintf(out,
		",\"lost\":%" PRIu64 ",\"truncated\":%" PRIu64 ",\"evicted\":%" PRIu64,
		info->not_stopped + info->vanished, info->truncated, info->evicted);
}

static int64_t start_of_day(uint64_t since)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - (int64_t)since;
}

static void put_state(FILE *out, const struct api_request *request)
{
	const struct sink *sink = request->sink;
	const uint64_t interval = sink->options->interval;
	const int64_t now = ms_since(request, now_ns());
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(sink->counting->profile, &info);
	put_string(out, "{\"version\":", pmp_version());
	fprintf(out, ",\"now\":%" PRId64 ",\"start\":%" PRId64, now,
		start_of_day((uint64_t)now));
	put_string(out, ",\"host\":", sink->counting->host ? sink->counting->host : "");
	fprintf(out, ",\"history\":%" PRIu64 ",\"rate\":[%g,%.2f]",
		sink->options->history / NS_PER_S, interval ? 1e9 / (double)interval : 0,
		metrics_rate(sink));
	put_targets(out, request);
	fputs(",\n\"states\":[\"run\",\"ready\",\"lock\",\"disk\",\"sleep\"],"
	      "\"weights\":[\"samples\",\"wall\",\"cpu\",\"lock\",\"off cpu\"]",
	      out);
	put_cost(out, &info);
	fprintf(out, ",\"holders\":true,\"heap\":%s}\n",
		sink->options->heap.on ? "true" : "false");
}

int api_write_state(const struct api_request *request, struct pmp_error *err)
{
	return write_with(request, put_state, err);
}

/* ---- time line ---------------------------------------------------------------------- */

static void put_second(FILE *out, const struct timeline_second *second)
{
	if (!second->sampled) {
		fputs("null", out);
		return;
	}
	for (size_t i = 0; i < TIMELINE_STATES; i++)
		fprintf(out, "%c%" PRIu32, i ? ',' : '[', second->times[i]);
	fputc(']', out);
}

static void put_heap_seconds(FILE *out, const struct api_request *request, int64_t first,
			     int64_t end)
{
	fputs(",\n\"heap\":[", out);
	for (int64_t i = first; i < end; i++) {
		const struct timeline_second second =
			timeline_get(request->timeline, request->pid, i);

		if (i > first)
			fputc(',', out);
		if (second.sampled)
			fprintf(out, "%" PRIu64, second.heap);
		else
			fputs("null", out);
	}
	fputc(']', out);
}

static void put_timeline(FILE *out, const struct api_request *request)
{
	int64_t first, end = timeline_range(request->timeline, &first);
	const int64_t from = (ms_since(request, request->from) + 999) / 1000;

	if (first < from)
		first = from < end ? from : end;
	fprintf(out, "{\"step\":1000,\"from\":%" PRId64 ",\n\"all\":[", first * 1000);
	for (int64_t i = first; i < end; i++) {
		const struct timeline_second second =
			timeline_get(request->timeline, request->pid, i);

		if (i > first)
			fputc(',', out);
		put_second(out, &second);
	}
	fputc(']', out);
	if (request->sink->options->heap.on)
		put_heap_seconds(out, request, first, end);
	fputs("}\n", out);
}

int api_write_timeline(const struct api_request *request, struct pmp_error *err)
{
	return write_with(request, put_timeline, err);
}

/* ---- a part of the past ---------------------------------------------------------------- */

/* A function of libpmp, and the JSON name of what it writes. */
struct api_content {
	const char *name;
	int (*write)(const struct pmp_report *report,
		     const struct pmp_tree_options *options, const struct pmp_sink *sink,
		     struct pmp_error *err);
	bool by_thread;
	bool deadlocks; /* add the deadlocks of the last snapshot */
};

#define DEADLOCKS_MAX 20

/* Write the deadlocks of one process; count: how many were written so far. */
static void put_process_deadlocks(FILE *out, const struct api_request *request, pid_t pid,
				  size_t *count)
{
	const struct pmp_report_options snapshot = { .size = sizeof(snapshot),
						     .snapshot = true,
						     .pid = pid };
	struct pmp_report *report = NULL;
	char line[COMMAND_SIZE];

	if (pmp_report_new(request->sink->counting->profile, request->filter, &snapshot,
			   &report, NULL) < 0)
		return;
	for (size_t i = 0;
	     *count < DEADLOCKS_MAX && pmp_report_deadlock(report, i, line, sizeof(line));
	     i++)
		put_string(out, (*count)++ ? ",\n" : "\n", line);
	pmp_report_free(report);
}

static void put_deadlocks(FILE *out, const struct api_request *request)
{
	const struct targets *targets = &request->sink->source->targets;
	size_t count = 0;

	fputs(",\"deadlocks\":[", out);
	for (size_t i = 0; i < targets->count; i++) {
		const pid_t pid = targets->processes[i].pid;

		if (!request->pid || request->pid == pid)
			put_process_deadlocks(out, request, pid, &count);
	}
	fputs("]}\n", out);
}

static int write_report(const struct api_request *request,
			const struct api_content *content, struct pmp_report *report,
			struct pmp_error *err)
{
	const struct pmp_tree_options options = {
		.size = sizeof(options),
		.by_thread = request->asked->by_thread,
		.by_group = true,
		.px = request->asked->px,
		.nodes = request->asked->nodes,
		.under = request->asked->under,
	};
	int file = request->file;
	const struct pmp_sink sink = { answer_text_put, &file };

	return content->write(report, &options, &sink, err);
}

static int put_content(const struct api_request *request,
		       const struct api_content *content, struct pmp_profile *window,
		       struct pmp_error *err)
{
	struct pmp_report *report = NULL;
	int code = pmp_report_new(window, request->filter, NULL, &report, err);

	if (code == 0)
		code = write_report(request, content, report, err);
	pmp_report_free(report);
	return code;
}

/* {"from":0,"to":60000,"snapshots":1200,"rounds":600,"tree":{...}} */
static int put_window(const struct api_request *request,
		      const struct api_content *content, struct pmp_profile *window,
		      const struct pmp_covered *covered, struct pmp_error *err)
{
	const bool found = covered->to > covered->from;
	char head[160];
	int length, code;

	length = snprintf(head, sizeof(head),
			  "{\"from\":%" PRId64 ",\"to\":%" PRId64
			  ",\"snapshots\":%" PRIu64 ",\"rounds\":%" PRIu64 ",\"%s\":",
			  ms_since(request, found ? covered->from : request->from),
			  ms_since(request, found ? covered->to : request->to),
			  covered->samples, covered->rounds, content->name);
	if (answer_text_write(request->file, head, (size_t)length) < 0)
		return no_memory(err);
	code = put_content(request, content, window, err);
	if (code == 0 && content->deadlocks) {
		code = write_with(request, put_deadlocks, err);
		return code ? code : pmp_filter_problem(request->filter, err);
	}
	if (code == 0 && answer_text_write(request->file, "}\n", 2) < 0)
		code = no_memory(err);
	return code;
}

static int write_window(const struct api_request *request,
			const struct api_content *content, struct pmp_error *err)
{
	const struct pmp_window_options options = {
		.size = sizeof(options),
		.from = request->from,
		.to = request->to,
		.pid = request->pid,
		.by_thread = content->by_thread,
		.details = true,
		.times = true,
		.for_filter = true,
		.waits = true,
	};
	struct pmp_covered covered = { .size = sizeof(covered) };
	struct pmp_profile *window = NULL;
	int code = pmp_profile_window(request->sink->counting->profile, &options, &window,
				      &covered, err);

	if (code == 0)
		code = put_window(request, content, window, &covered, err);
	pmp_profile_free(window);
	return code;
}

int api_write_tree(const struct api_request *request, struct pmp_error *err)
{
	const struct api_content tree = { .name = "tree",
					  .write = pmp_report_write_tree,
					  .by_thread = request->asked->by_thread };

	return write_window(request, &tree, err);
}

int api_write_threads(const struct api_request *request, struct pmp_error *err)
{
	static const struct api_content threads = { .name = "threads",
						    .write = pmp_report_write_threads,
						    .by_thread = true };

	return write_window(request, &threads, err);
}

int api_write_locks(const struct api_request *request, struct pmp_error *err)
{
	static const struct api_content locks = { .name = "locks",
						  .write = pmp_report_write_lock_rows,
						  .by_thread = true,
						  .deadlocks = true };

	return write_window(request, &locks, err);
}

/* {"from":0,"to":60000,"tree":{...}}: what was allocated since
 * the start and is live now. */
int api_write_heap(const struct api_request *request, struct pmp_error *err)
{
	static const struct api_content tree = { .name = "tree",
						 .write = pmp_report_write_tree };
	const struct pmp_report_options heap = {
		.size = sizeof(heap),
		.heap = true,
		.heap_age = request->sink->options->heap.age,
		.heap_now = now_ns,
	};
	struct pmp_report *report = NULL;
	char head[64];
	int code, length = snprintf(head, sizeof(head),
				    "{\"from\":0,\"to\":%" PRId64 ",\"tree\":",
				    ms_since(request, now_ns()));

	if (answer_text_write(request->file, head, (size_t)length) < 0)
		return no_memory(err);
	code = pmp_report_new(request->sink->counting->profile, request->filter, &heap,
			      &report, err);
	if (code == 0)
		code = write_report(request, &tree, report, err);
	if (code == 0 && answer_text_write(request->file, "}\n", 2) < 0)
		code = no_memory(err);
	pmp_report_free(report);
	return code;
}

/* ---- names at addresses --------------------------------------------------------------- */

int api_write_names(const struct api_request *request, struct pmp_error *err)
{
	const int code =
		answer_text_name(request->sink->counting->profile, request->asked->query,
				 request->body, request->file);

	return code < 0 ? no_memory(err) : 0;
}
