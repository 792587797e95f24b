/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See metrics.h. Values that only grow are counters, named _total. Targets that have ended
 * have no metrics. */
#include "sink/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/process-use.h"
#include "run/run-state.h"
#include "serve/counts.h"
#include "serve/routes.h"
#include "sink/answer-text.h"
#include "sink/sink.h"
#include "source/source.h"

#define QUOTED_SIZE (EVENT_NAME_SIZE * 8)
#define RATE_TIME (10 * NS_PER_S) /* over which the rate of snapshots is measured */

struct metrics {
	FILE *out;
	const struct sink *sink;
	const struct metrics_server *server;
	struct pmp_profile_info info;
	struct sampling_progress sampler;
};

static void head(const struct metrics *metrics, const char *name, const char *type,
		 const char *help)
{
	fprintf(metrics->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Write a metric without labels. */
static void put(const struct metrics *metrics, const char *name, const char *type,
		uint64_t value, const char *help)
{
	head(metrics, name, type, help);
	fprintf(metrics->out, "%s %" PRIu64 "\n", name, value);
}

static void put_seconds(const struct metrics *metrics, uint64_t ns)
{
	fprintf(metrics->out, "%" PRIu64 ".%09" PRIu64 "\n", ns / NS_PER_S,
		ns % NS_PER_S);
}

/* ---- snapshots and their cost ------------------------------------------------------- */

static void put_build(const struct metrics *metrics)
{
	char quoted[QUOTED_SIZE];

	head(metrics, "pmp_build_info", "gauge", "The version of pmp, as a label.");
	fprintf(metrics->out, "pmp_build_info{version=\"%s\"} 1\n",
		answer_text_quote(pmp_version(), quoted, sizeof(quoted)));
}

static void put_stacks(const struct metrics *metrics)
{
	const struct pmp_profile_info *info = &metrics->info;
	const uint64_t read = info->stacks - info->not_stopped - info->unchanged;
	const struct {
		const char *how;
		uint64_t count;
	} ways[] = {
		{ "stopped", read > info->peeked ? read - info->peeked : 0 },
		{ "peeked", info->peeked },
		{ "unchanged", info->unchanged },
		{ "not_stopped", info->not_stopped },
	};

	head(metrics, "pmp_stacks_total", "counter",
	     "Stacks by how they were obtained: with the thread stopped, without, from "
	     "the last snapshot, not at all.");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		fprintf(metrics->out, "pmp_stacks_total{how=\"%s\"} %" PRIu64 "\n",
			ways[i].how, ways[i].count);
}

static void put_stops(const struct metrics *metrics)
{
	static const uint64_t bounds[] = { 5000,    10000,   20000,   50000,
					   100000,  200000,  500000,  1000000,
					   2000000, 5000000, 10000000 };
	const struct pmp_profile *profile = metrics->sink->counting->profile;

	head(metrics, "pmp_stop_seconds", "histogram",
	     "How long single threads were stopped.");
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		fprintf(metrics->out, "pmp_stop_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
			(double)bounds[i] / 1e9,
			pmp_profile_stops_within(profile, bounds[i]));
	fprintf(metrics->out, "pmp_stop_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n",
		metrics->info.stops);
	fputs("pmp_stop_seconds_sum ", metrics->out);
	put_seconds(metrics, metrics->info.stopped);
	fprintf(metrics->out, "pmp_stop_seconds_count %" PRIu64 "\n",
		metrics->info.stops);
	head(metrics, "pmp_any_stopped_seconds_total", "counter",
	     "Time for which at least one thread was stopped.");
	fputs("pmp_any_stopped_seconds_total ", metrics->out);
	put_seconds(metrics, metrics->info.any_stopped);
}

static void put_losses(const struct metrics *metrics)
{
	const struct pmp_profile_info *info = &metrics->info;

	head(metrics, "pmp_lost_total", "counter",
	     "Threads without a stack: they ended while they were looked at, or could not "
	     "be stopped.");
	fprintf(metrics->out, "pmp_lost_total{reason=\"ended\"} %" PRIu64 "\n",
		info->vanished);
	fprintf(metrics->out, "pmp_lost_total{reason=\"not_stopped\"} %" PRIu64 "\n",
		info->not_stopped);
	put(metrics, "pmp_truncated_total", "counter", info->truncated,
	    "Stacks that do not reach their root.");
	put(metrics, "pmp_evicted_total", "counter", info->evicted,
	    "Stacks that are not kept apart: see --max-memory.");
	put(metrics, "pmp_missed_snapshots_total", "counter",
	    metrics->sampler.done.missed,
	    "Snapshots that were not taken as the one before took too long.");
}

double metrics_rate(const struct sink *sink)
{
	const uint64_t now = now_ns();
	const struct pmp_window_options options = {
		.size = sizeof(options),
		.from = now > RATE_TIME ? now - RATE_TIME : 1,
		.to = now,
	};
	struct pmp_covered covered = { .size = sizeof(covered) };
	struct pmp_profile *window = NULL;
	struct pmp_error err;

	pmp_profile_window(sink->counting->profile, &options, &window, &covered, &err);
	pmp_profile_free(window);
	if (covered.to <= covered.from)
		return 0;
	return (double)covered.rounds / ((double)(covered.to - covered.from) / 1e9);
}

static void put_rate(const struct metrics *metrics)
{
	const uint64_t interval = metrics->sink->options->interval;

	head(metrics, "pmp_rate_hertz", "gauge",
	     "Snapshots a second: asked for, and reached in the last 10 s.");
	fprintf(metrics->out, "pmp_rate_hertz{kind=\"asked\"} %g\n",
		interval ? 1e9 / (double)interval : 0);
	fprintf(metrics->out, "pmp_rate_hertz{kind=\"reached\"} %.3f\n",
		metrics_rate(metrics->sink));
}

/* ---- pmp itself --------------------------------------------------------------------- */

static void put_use(const struct metrics *metrics)
{
	const struct {
		const char *name;
		struct process_use use;
	} processes[] = {
		{ "front", process_use(getpid()) },
		{ "sampler", process_use(metrics->sampler.pid) },
		{ "server", process_use(metrics->server->counts->server) },
	};

	head(metrics, "pmp_cpu_seconds_total", "counter", "CPU time of pmp's processes.");
	for (size_t i = 0; i < sizeof(processes) / sizeof(*processes); i++) {
		fprintf(metrics->out, "pmp_cpu_seconds_total{process=\"%s\"} ",
			processes[i].name);
		put_seconds(metrics, processes[i].use.cpu);
	}
	fprintf(metrics->out, "pmp_cpu_seconds_total{process=\"helpers\"} ");
	put_seconds(metrics, metrics->sink->state->helpers_cpu);
	head(metrics, "pmp_memory_bytes", "gauge", "Resident memory of pmp's processes.");
	for (size_t i = 0; i < sizeof(processes) / sizeof(*processes); i++)
		fprintf(metrics->out, "pmp_memory_bytes{process=\"%s\"} %" PRIu64 "\n",
			processes[i].name, processes[i].use.memory);
}

static void put_requests(const struct metrics *metrics)
{
	const struct serve_counts *counts = metrics->server->counts;

	head(metrics, "pmp_http_requests_total", "counter",
	     "Requests that were answered, by page and status.");
	for (size_t row = 0; row < COUNTS_PAGES; row++) {
		const struct page *page = page_row(row);

		for (size_t i = 0; counts_status(i); i++) {
			uint64_t count = counts->requests[row][i];

			if (count)
				fprintf(metrics->out,
					"pmp_http_requests_total{page=\"%s\",code=\"%d\"} "
					"%" PRIu64 "\n",
					page ? page->path : "none", counts_status(i),
					count);
		}
	}
}

static void put_server(const struct metrics *metrics)
{
	struct pmp_covered kept = { .size = sizeof(kept) };

	pmp_profile_history(metrics->sink->counting->profile, &kept);
	head(metrics, "pmp_history_seconds", "gauge",
	     "How far the past that is kept reaches.");
	fputs("pmp_history_seconds ", metrics->out);
	put_seconds(metrics, kept.to - kept.from);
	put(metrics, "pmp_history_bytes", "gauge", kept.memory,
	    "The memory that it takes.");
	put_requests(metrics);
	put(metrics, "pmp_http_connections", "gauge",
	    metrics->server->counts->connections, "Connections that are open.");
	put(metrics, "pmp_windows", "gauge", metrics->server->windows,
	    "Windows of time that are being recorded.");
	put(metrics, "pmp_writers_total", "counter", metrics->server->writers,
	    "Processes that were started to write large answers.");
}

/* ---- the targets ---------------------------------------------------------------------- */

static void put_target(const struct metrics *metrics, const char *name, pid_t pid,
		       const char *process)
{
	char quoted[QUOTED_SIZE];

	fprintf(metrics->out, "%s{pid=\"%d\",name=\"%s\"", name, (int)pid,
		answer_text_quote(process, quoted, sizeof(quoted)));
}

static void put_up(const struct metrics *metrics)
{
	const struct targets *targets = &metrics->sink->source->targets;

	head(metrics, "pmp_target_up", "gauge", "Is the target being sampled?");
	for (size_t i = 0; i < targets->count; i++) {
		const struct process *process = &targets->processes[i];

		put_target(metrics, "pmp_target_up", process->pid, process->name);
		fprintf(metrics->out, "} %d\n",
			process->snapshots > 0 && !process->ended);
	}
	put(metrics, "pmp_snapshots_total", "counter", targets->snapshots,
	    "Snapshots of all targets.");
}

/* The last snapshot of a process, as a report. NULL: there is none. */
static struct pmp_report *last_snapshot(const struct metrics *metrics,
					const struct process *process,
					struct pmp_profile **window)
{
	const struct pmp_window_options options = {
		.size = sizeof(options),
		.from = process->last ? process->last - 1 : 0,
		.to = process->last,
		.pid = process->pid,
		.details = true,
	};
	struct pmp_report *report = NULL;
	struct pmp_error err;

	*window = NULL;
	if (process->last && pmp_profile_window(metrics->sink->counting->profile,
						&options, window, NULL, &err) == 0)
		pmp_report_new(*window, NULL, NULL, &report, &err);
	return report;
}

static void count_states(const struct pmp_report *report, uint64_t counts[128])
{
	struct pmp_stack_info stack = { .size = sizeof(stack) };

	for (size_t i = 0; pmp_report_stack(report, i, &stack); i++)
		counts[(unsigned char)stack.state % 128] += stack.count;
}

static void put_threads(const struct metrics *metrics)
{
	const struct targets *targets = &metrics->sink->source->targets;

	head(metrics, "pmp_threads", "gauge",
	     "Threads by their state in the last snapshot, as in proc(5).");
	for (size_t i = 0; i < targets->count; i++) {
		const struct process *process = &targets->processes[i];
		struct pmp_profile *window;
		struct pmp_report *report;
		uint64_t counts[128] = { 0 };

		if (process->ended)
			continue;
		report = last_snapshot(metrics, process, &window);

		if (report)
			count_states(report, counts);
		for (int state = 'A'; state <= 'Z'; state++) {
			if (!counts[state])
				continue;
			put_target(metrics, "pmp_threads", process->pid, process->name);
			fprintf(metrics->out, ",state=\"%c\"} %" PRIu64 "\n", state,
				counts[state]);
		}
		pmp_report_free(report);
		pmp_profile_free(window);
	}
}

/* Keep escaped bytes apart from literal backslashes: otherwise two names
 * might give the same series. */
static const char *double_backslashes(const char *name, char *doubled, size_t size)
{
	size_t length = 0;

	for (; *name && length + 2 < size; name++) {
		if (*name == '\\')
			doubled[length++] = '\\';
		doubled[length++] = *name;
	}
	doubled[length] = '\0';
	return doubled;
}

/* Counters must never decrease: so sleep does not include what
 * may turn out to be a lock. */
static void put_group(const struct metrics *metrics, const struct pmp_group_times *times)
{
	const struct {
		const char *state;
		uint64_t time;
	} states[] = {
		{ "run", times->run },
		{ "ready", times->ready },
		{ "lock", times->lock },
		{ "disk", times->disk },
		{ "sleep", times->sleep - times->unsure },
	};
	char doubled[2 * EVENT_NAME_SIZE], quoted[QUOTED_SIZE];

	answer_text_quote(double_backslashes(times->group, doubled, sizeof(doubled)),
			  quoted, sizeof(quoted));
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		put_target(metrics, "pmp_thread_seconds_total", times->pid,
			   times->process);
		fprintf(metrics->out, ",group=\"%s\",state=\"%s\"} ", quoted,
			states[i].state);
		put_seconds(metrics, states[i].time);
	}
}

static void put_groups(const struct metrics *metrics)
{
	struct pmp_profile *profile = metrics->sink->counting->profile;

	/* With --on-demand most of the time is not sampled, and
	 * sums restart after pauses. */
	if (metrics->sink->options->on_demand)
		return;
	head(metrics, "pmp_thread_seconds_total", "counter",
	     "Where the time of the threads of each group went: running, ready but without a "
	     "processor, waiting for a lock, for a disk, asleep.");
	for (size_t i = 0; i < pmp_profile_group_count(profile); i++) {
		struct pmp_group_times times = { .size = sizeof(times) };

		pmp_profile_group(profile, i, &times);
		put_group(metrics, &times);
	}
}

/* ---- their memory ----------------------------------------------------------------------- */

/* One line of a metric for each target. */
struct memory_metric {
	const char *name, *help;
	size_t offset; /* in struct process_memory */
};

static void put_memory_metric(const struct metrics *metrics,
			      const struct memory_metric *metric)
{
	const struct targets *targets = &metrics->sink->source->targets;

	head(metrics, metric->name, "gauge", metric->help);
	for (size_t i = 0; i < targets->count; i++) {
		const struct process *process = &targets->processes[i];
		struct process_memory memory;

		if (process->ended || !process_memory(process->pid, &memory))
			continue;
		put_target(metrics, metric->name, process->pid, process->name);
		fprintf(metrics->out, "} %" PRIu64 "\n",
			*(const uint64_t *)((const char *)&memory + metric->offset));
	}
}

static void put_memory(const struct metrics *metrics)
{
	static const struct memory_metric all[] = {
		{ "pmp_target_resident_bytes", "Resident memory of the target.",
		  offsetof(struct process_memory, resident) },
		{ "pmp_target_resident_peak_bytes", "The most that it has been.",
		  offsetof(struct process_memory, resident_peak) },
		{ "pmp_target_data_bytes",
		  "Private writable memory of the target, resident or not.",
		  offsetof(struct process_memory, data) },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		put_memory_metric(metrics, &all[i]);
}

/* The same for targets that are recorded. */
struct heap_metric {
	const char *name, *type, *help;
	size_t offset; /* in struct pmp_heap_info */
};

static void put_heap_metric(const struct metrics *metrics,
			    const struct heap_metric *metric)
{
	const struct pmp_profile *profile = metrics->sink->counting->profile;
	struct pmp_heap_info info = { .size = sizeof(info) };

	head(metrics, metric->name, metric->type, metric->help);
	for (size_t i = 0; pmp_profile_heap_process(profile, i, &info); i++) {
		if (info.ended)
			continue;
		put_target(metrics, metric->name, info.pid, info.name);
		fprintf(metrics->out, "} %" PRIu64 "\n",
			*(const uint64_t *)((const char *)&info + metric->offset));
	}
}

static void put_heap(const struct metrics *metrics)
{
	static const struct heap_metric all[] = {
		{ "pmp_heap_live_bytes", "gauge",
		  "Memory that is allocated and not freed.",
		  offsetof(struct pmp_heap_info, live) },
		{ "pmp_heap_live_blocks", "gauge",
		  "Blocks that are allocated and not freed.",
		  offsetof(struct pmp_heap_info, live_blocks) },
		{ "pmp_heap_peak_bytes", "gauge",
		  "The most that was allocated and not freed, within 64 KiB a thread.",
		  offsetof(struct pmp_heap_info, peak) },
		{ "pmp_heap_allocated_bytes_total", "counter",
		  "Memory that was allocated, since the start of the process.",
		  offsetof(struct pmp_heap_info, allocated) },
		{ "pmp_heap_freed_bytes_total", "counter",
		  "Memory that was freed, since the start of the process.",
		  offsetof(struct pmp_heap_info, freed) },
	};

	/* Only with a recorder. */
	for (size_t i = 0;
	     metrics->sink->options->heap.on && i < sizeof(all) / sizeof(*all); i++)
		put_heap_metric(metrics, &all[i]);
}

/* ---- pages ------------------------------------------------------------------------------ */

static void put_all(const struct metrics *metrics)
{
	put_build(metrics);
	put_up(metrics);
	put_threads(metrics);
	put_groups(metrics);
	put_memory(metrics);
	put_heap(metrics);
	put_stacks(metrics);
	put_stops(metrics);
	put_losses(metrics);
	put_rate(metrics);
	put_use(metrics);
	put_server(metrics);
}

int metrics_write(const struct sink *sink, const struct metrics_server *server, int file)
{
	struct metrics metrics = { .sink = sink, .server = server };
	char *text = NULL;
	size_t length = 0;
	int code = -ENOMEM;

	metrics.info.size = sizeof(metrics.info);
	pmp_profile_info(sink->counting->profile, &metrics.info);
	sink->source->type->progress(sink->source, &metrics.sampler);
	metrics.out = open_memstream(&text, &length);
	if (!metrics.out)
		return code;
	put_all(&metrics);
	if (fclose(metrics.out) == 0)
		code = answer_text_write(file, text, length);
	free(text);
	return code;
}

static void put_found(FILE *out, const char *host, const struct process *process,
		      bool first)
{
	char name[QUOTED_SIZE], at[QUOTED_SIZE];

	fprintf(out,
		"%s{\"targets\":[\"%s\"],\"labels\":{\"service_name\":\"%s\",\"pid\":\"%d\","
		"\"__profile_path_prefix__\":\"/pid/%d/feed/sd\","
		"\"__meta_pmp_prefix\":\"/pid/%d/feed/sd\"}}",
		first ? "" : ",\n ", answer_text_quote(host, at, sizeof(at)),
		answer_text_quote(process->name, name, sizeof(name)), (int)process->pid,
		(int)process->pid, (int)process->pid);
}

int metrics_write_targets(const struct sink *sink, const char *host, int file)
{
	const struct targets *targets = &sink->source->targets;
	char *text = NULL;
	size_t length = 0, found = 0;
	FILE *out = open_memstream(&text, &length);
	int code = -ENOMEM;

	if (!out)
		return code;
	fputc('[', out);
	for (size_t i = 0; i < targets->count; i++) {
		if (targets->processes[i].ended)
			continue;
		put_found(out, host, &targets->processes[i], !found++);
	}
	fputs("]\n", out);
	if (fclose(out) == 0)
		code = answer_text_write(file, text, length);
	free(text);
	return code;
}
