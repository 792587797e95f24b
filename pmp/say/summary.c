/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages about a run, on standard error, once the target is left alone. */
#include "say/summary.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "say/message.h"

#define UNNAMED_PERCENT 10 /* of a module's frames, and ... */
#define MISSED_PERCENT 5   /* ... of all frames: report it */
#define MODULES_MAX 5	   /* messages of a kind about modules */
#define RATE_SIZE 32

static double ms(uint64_t time)
{
	return (double)time / 1e6;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "10", "4.1", "0.25" */
static const char *rate(uint64_t interval, char text[RATE_SIZE])
{
	double hz = interval ? 1e9 / (double)interval : 0;

	snprintf(text, RATE_SIZE, hz >= 10 ? "%.0f" : "%.2g", hz);
	return text;
}

void summary_behind(const struct event_behind *event)
{
	char asked[RATE_SIZE], reached[RATE_SIZE], lowered[RATE_SIZE];
	char stop[128] = "";

	rate(event->asked, asked);
	rate(event->reached, reached);
	rate(event->lowered, lowered);
	if (event->lowered && event->stopped > event->budget)
		snprintf(stop, sizeof(stop),
			 "; rate lowered to %s Hz (stopped %.3g ms of a "
			 "budget of %.3g ms)",
			 lowered, ms(event->stopped), ms(event->budget));
	else if (event->lowered)
		snprintf(stop, sizeof(stop),
			 "; rate lowered to %s Hz (a snapshot takes "
			 "%.3g ms of CPU, --max-cpu is %" PRIu64 "%%)",
			 lowered, ms(event->cpu), event->max_cpu);
	message_note(NULL,
		     "sampling falls behind: %s Hz asked, %s Hz reached with "
		     "%" PRIu64 " threads%s",
		     asked, reached, event->threads, stop);
}

/* " of 100"; or nothing, if the run has no limit. */
static void wanted(const struct options *options, char *text, size_t size)
{
	uint64_t count = options->count;

	if (!count && options->duration)
		count = options->duration / options->interval;
	text[0] = '\0';
	if (count)
		snprintf(text, size, " of %llu", (unsigned long long)count);
}

void summary_ended(const struct options *options, const struct process *process,
		   bool threads_only)
{
	const char *what = threads_only ? "the threads of " : "";
	char of[32];

	if (process->snapshots == 0 && threads_only) {
		message_print(
			"the threads of a process are in /proc/PID/task",
			"no thread given with -t is one of %d (%s), or it has ended",
			(int)process->pid, process->name);
		return;
	}
	if (process->snapshots == 0) {
		message_print(NULL, "%d (%s) ended before the first snapshot",
			      (int)process->pid, process->name);
		return;
	}
	wanted(options, of, sizeof(of));
	message_note(NULL,
		     "%s%d (%s) ended after %llu%s snapshot%s; the profile covers %.1f s",
		     what, (int)process->pid, process->name,
		     (unsigned long long)process->snapshots, of,
		     process->snapshots == 1 && !*of ? "" : "s",
		     (double)(process->last - process->first) / 1e9);
}

/* "30 snapshots in 2.9 s, 25.0 threads", "30 snapshots in 2.9 s, cpu 7.82s", "1.6 s, 73
 * stacks": a saved profile may count something else, or not say how many snapshots it
 * has. */
static void extent(const struct counting *counting, const struct pmp_profile_info *info,
		   char *text, size_t size)
{
	struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };
	char value[PMP_VALUE_SIZE], type[128];
	size_t n = 0;

	pmp_profile_describe(counting->profile, &metadata);
	if (!metadata.guessed)
		n = (size_t)snprintf(text, size, "%" PRIu64 " snapshot%s in ",
				     info->samples, info->samples == 1 ? "" : "s");
	n += (size_t)snprintf(text + n, size - n, "%.1f s, ",
			      (double)(info->last_time - info->first_time) / 1e9);
	if (*metadata.type)
		snprintf(text + n, size - n, "%s %s",
			 pmp_escape(metadata.type, type, sizeof(type)),
			 pmp_format_value(info->stacks, metadata.unit, value,
					  sizeof(value)));
	else if (metadata.guessed)
		snprintf(text + n, size - n, "%" PRIu64 " stack%s", info->stacks,
			 info->stacks == 1 ? "" : "s");
	else
		snprintf(text + n, size - n, "%.1f threads",
			 info->samples ? (double)info->stacks / (double)info->samples
				       : 0);
}

void summary_written(const struct counting *counting, const struct targets *targets,
		     const struct process *named, const char *path)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	char name[EVENT_NAME_SIZE * 4], more[32] = "", evicted[48] = "", covers[320];

	pmp_profile_info(counting->profile, &info);
	if (info.evicted)
		snprintf(evicted, sizeof(evicted), ", %" PRIu64 " evicted", info.evicted);
	if (targets->count > 1)
		snprintf(more, sizeof(more), " and %zu more", targets->count - 1);
	extent(counting, &info, covers, sizeof(covers));
	message_log(counting->options->verbose > 0 ||
			    (counting->options->stats && counting->options->every),
		    "wrote %s: %s (%d)%s, %s, stopped %.2f ms in all, %.3f ms at most, "
		    "%" PRIu64 " lost, %" PRIu64 " truncated%s",
		    path, pmp_escape(named->name, name, sizeof(name)), (int)named->pid,
		    more, covers, ms(info.stopped), ms(info.stopped_max), info.vanished,
		    info.truncated, evicted);
}

static void summary_unnamed(const struct options *options,
			    const struct pmp_module_info *module)
{
	const char *folder = options->debug_dir ? options->debug_dir : "/usr/lib/debug";
	const char *id = module->build_id, *problem = module->problem;
	bool stripped = !problem || strcmp(problem, "no symbols") == 0 ||
			strcmp(problem, "only exported symbols") == 0;
	char hint[512] = "", about[96] = "";

	if (strlen(id) > 2)
		snprintf(about, sizeof(about), " (build-id %.60s)", id);
	if (stripped && strlen(id) > 2)
		snprintf(hint, sizeof(hint),
			 "install its debug package%s; its debug file belongs at "
			 "%.*s/.build-id/%.2s/%s.debug",
			 options->debuginfod ? "" : ", or try --debuginfod",
			 (int)strcspn(folder, ":"), folder, id, id + 2);
	else if (stripped)
		snprintf(hint, sizeof(hint), "install its debug package");
	else if (strcmp(problem, "on another user's file system") == 0)
		snprintf(hint, sizeof(hint),
			 "run pmp as that user, or within its container");
	message_note(hint, "no names for %.0f%% of the frames of %s%s: %s",
		     percent(module->unnamed, module->frames), module->path, about,
		     problem ? problem : "no symbols");
}

static uint64_t count_frames(const struct pmp_symbolizer *symbolizer)
{
	uint64_t frames = 0;

	for (size_t i = 0; i < pmp_symbolizer_module_count(symbolizer); i++) {
		struct pmp_module_info module = { .size = sizeof(module) };

		pmp_symbolizer_module(symbolizer, i, &module);
		frames += module.frames;
	}
	return frames;
}

/* An empty file alone would be puzzling. */
void summary_unwanted(const struct counting *counting, const struct targets *targets)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(counting->profile, &info);
	if (targets->skipped && !info.stacks && !counting->options->every)
		message_note("pmp -f threads has the names of threads",
			     "no threads left: -t, --threads and --not-threads leave "
			     "out all of them");
}

void summary_filter(const struct counting *counting)
{
	struct pmp_report_info info = { .size = sizeof(info) };
	char shown[PMP_VALUE_SIZE], all[PMP_VALUE_SIZE], type[128];

	if (!pmp_filter_is_active(counting->options->filter) || !counting->report)
		return;
	pmp_report_info(counting->report, &info);
	if (info.shown == info.counted && !counting->options->stats)
		return;
	message_note(
		info.shown || !info.counted
			? NULL
			: "pmp -f flat lists the names that expressions are matched with",
		"the filters show %s of %s %s (%.1f%%)",
		pmp_format_value(info.shown, info.unit, shown, sizeof(shown)),
		pmp_format_value(info.counted, info.unit, all, sizeof(all)),
		*info.type ? pmp_escape(info.type, type, sizeof(type)) : "stacks",
		percent(info.shown, info.counted));
}

size_t summary_modules(const struct options *options,
		       const struct pmp_symbolizer *symbolizer, bool run)
{
	size_t count = pmp_symbolizer_module_count(symbolizer), replaced = 0, unnamed = 0;
	uint64_t frames = count_frames(symbolizer);

	for (size_t i = 0; i < count && unnamed < MODULES_MAX; i++) {
		struct pmp_module_info module = { .size = sizeof(module) };

		pmp_symbolizer_module(symbolizer, i, &module);
		/* A memfd was never on disk. */
		if (run && module.replaced && module.frames && replaced < MODULES_MAX &&
		    strncmp(module.path, "/memfd:", 7) != 0) {
			message_note(NULL,
				     "%s was replaced on disk (upgrade?); using the "
				     "running image",
				     module.path);
			replaced++;
		}
		if (percent(module.unnamed, module.frames) < UNNAMED_PERCENT ||
		    percent(module.unnamed, frames) < MISSED_PERCENT)
			continue;
		summary_unnamed(options, &module);
		unnamed++;
	}
	return unnamed;
}

static void stat_modules(const struct counting *counting)
{
	size_t count = pmp_symbolizer_module_count(counting->symbolizer);

	for (size_t i = 0; i < count; i++) {
		struct pmp_module_info module = { .size = sizeof(module) };

		pmp_symbolizer_module(counting->symbolizer, i, &module);
		if (module.unnamed)
			message_print(NULL, "unnamed: %llu of %llu frames of %s%s%s",
				      (unsigned long long)module.unnamed,
				      (unsigned long long)module.frames, module.path,
				      module.problem ? ": " : "",
				      module.problem ? module.problem : "");
	}
}

void summary_evicted(const struct counting *counting)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(counting->profile, &info);
	/* In a saved profile stacks may have been evicted when it was taken. */
	if (info.evicted)
		message_note(counting->saved ? NULL : "raise --max-memory",
			     "memory was too small: %llu of %llu stacks (%llu distinct "
			     "ones) are counted as [evicted]",
			     (unsigned long long)info.evicted,
			     (unsigned long long)info.stacks,
			     (unsigned long long)info.evicted_distinct);
}

void summary_negative(const struct counting *counting)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(counting->profile, &info);
	if (info.negative)
		message_note("pmp --diff BEFORE AFTER compares two profiles",
			     "samples with negative values, as in a difference, are not "
			     "counted: %llu",
			     (unsigned long long)info.negative);
}

static void tell_records(const struct counting *counting, uint64_t lost)
{
	const char *hint = counting->options->heap.exact
				   ? "less is lost with --heap-stack 4K, nothing by "
				     "taking samples (--heap)"
				   : "raise the rate of --heap";

	message_note(counting->saved ? NULL : hint,
		     "%llu records of what was allocated are missing: sums of stacks are "
		     "not exact, totals are",
		     (unsigned long long)lost);
}

void summary_heap_lost(const struct counting *counting)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(counting->profile, &info);
	if (info.heap_lost)
		tell_records(counting, info.heap_lost);
	if (info.heap_stackless)
		message_note(NULL,
			     "%llu samples of what was allocated have no stack: pmp had "
			     "not read yet where libraries are mapped",
			     (unsigned long long)info.heap_stackless);
	if (info.heap_unrecorded)
		message_note(
			NULL,
			"%llu processes were not recorded: more than %d at a time, or "
			"in a pid namespace of their own",
			(unsigned long long)info.heap_unrecorded, PMP_RECORDED_MOST);
}

/* Distinct stacks; in a filtered profile, those written. */
static uint64_t distinct(const struct counting *counting,
			 const struct pmp_profile_info *info)
{
	struct pmp_report_info report = { .size = sizeof(report) };

	if (!counting->report || counting->options->format->snapshots ||
	    !pmp_filter_is_active(counting->options->filter))
		return info->distinct;
	pmp_report_info(counting->report, &report);
	return report.distinct;
}

/* For a saved profile that counts something other than stacks. */
static void stat_value(const struct pmp_profile_metadata *metadata,
		       const struct pmp_profile_info *info)
{
	char value[PMP_VALUE_SIZE], type[128];

	message_print(
		NULL, "%s: %s, distinct stacks: %llu",
		pmp_escape(metadata->type, type, sizeof(type)),
		pmp_format_value(info->stacks, metadata->unit, value, sizeof(value)),
		(unsigned long long)info->distinct);
}

static void stat_stacks(const struct pmp_profile_metadata *metadata,
			const struct pmp_profile_info *info)
{
	if (metadata->guessed)
		message_print(NULL, "stacks: %llu, distinct: %llu",
			      (unsigned long long)info->stacks,
			      (unsigned long long)info->distinct);
	else
		message_print(
			NULL,
			"snapshots: %llu, stacks: %llu (%.1f threads each), distinct: "
			"%llu",
			(unsigned long long)info->samples,
			(unsigned long long)info->stacks,
			info->samples ? (double)info->stacks / (double)info->samples : 0,
			(unsigned long long)info->distinct);
}

static void stat_stops(const struct targets *targets, const struct pmp_profile_info *info)
{
	/* The sampler reports how long it ran, unless it was killed. */
	uint64_t elapsed = targets->done.elapsed ? targets->done.elapsed
						 : info->last_time - info->first_time;

	message_print(
		NULL,
		"stops: %llu, p50 %.1f us, p99 %.1f us, longest %.1f us, sum %.3f ms",
		(unsigned long long)info->stops, (double)info->stopped_p50 / 1e3,
		(double)info->stopped_p99 / 1e3, (double)info->stopped_max / 1e3,
		ms(info->stopped));
	message_print(NULL, "any thread stopped: %.3f ms, %.3f%% of %.1f s",
		      ms(info->any_stopped), percent(info->any_stopped, elapsed),
		      (double)elapsed / 1e9);
}

/* What was not sampled, or was sampled but not kept. */
static void stat_losses(const struct counting *counting, const struct targets *targets,
			const struct pmp_profile_info *info)
{
	const struct event_done *done = &targets->done;
	uint64_t taken = targets->taken;

	message_print(
		NULL,
		"lost: %llu vanished, %llu not stopped, %llu not wanted; "
		"truncated: %llu (%.1f%%)",
		(unsigned long long)info->vanished, (unsigned long long)info->not_stopped,
		(unsigned long long)targets->skipped, (unsigned long long)info->truncated,
		percent(info->truncated, info->stacks));
	if (taken > targets->snapshots)
		message_print(NULL, "snapshots taken but not counted: %llu of %llu",
			      (unsigned long long)(taken - targets->snapshots),
			      (unsigned long long)taken);
	/* It is unknown whose the ids were that came and went unseen. */
	if (counting->options->children && done->snapshots)
		message_print(NULL,
			      "children: %llu sampled, %llu not, %llu unseen at most",
			      (unsigned long long)(done->children - targets->unseen),
			      (unsigned long long)(done->lost_children + targets->unseen),
			      (unsigned long long)done->unseen);
	summary_evicted(counting);
}

void summary_stats(const struct counting *counting, const struct targets *targets)
{
	struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };
	struct pmp_profile_info info = { .size = sizeof(info) };
	const struct event_done *done = &targets->done;
	char asked[RATE_SIZE], reached[RATE_SIZE];

	pmp_profile_info(counting->profile, &info);
	info.distinct = distinct(counting, &info);
	pmp_profile_describe(counting->profile, &metadata);
	if (*metadata.type) {
		stat_value(&metadata, &info);
		stat_modules(counting);
		return;
	}
	stat_stacks(&metadata, &info);
	message_print(NULL,
		      "stacks: %.1f%% of threads that had not run, %.1f%% looked at, "
		      "%.1f%% by a stop",
		      percent(info.unchanged, info.stacks),
		      percent(info.peeked, info.stacks),
		      percent(info.stops, info.stacks));
	stat_stops(targets, &info);
	stat_losses(counting, targets, &info);
	if (done->snapshots > 1)
		message_print(
			NULL, "rate: %s Hz asked, %s Hz reached, %llu ticks missed",
			rate(counting->options->interval, asked),
			rate((info.last_time - info.first_time) / (done->snapshots - 1),
			     reached),
			(unsigned long long)done->missed);
	stat_modules(counting);
}
