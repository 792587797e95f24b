/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the output of a run: one file, one per interval of --every, or standard output.
 * The worker does what is slow.
 */
#include <unistd.h>

#include "base/fault.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/run-state.h"
#include "run/supervise.h"
#include "say/message.h"
#include "say/progress.h"
#include "say/summary.h"
#include "sink/sink.h"
#include "sink/write-options.h"
#include "source/source.h"

/* In a series of files the next one may succeed: a disk may be full only for a while. */
static void output_failed(struct sink *sink)
{
	if (sink->options->every && sink->options->output && sink->next_file)
		sink->state->file_failed = true;
	else
		sink->calls->fail(sink->run, PMP_EXIT_OUTPUT);
}

static void write_failed(struct sink *sink, const struct pmp_error *err)
{
	if (atomic_file_error(sink->output)) {
		atomic_file_complain(sink->output);
		output_failed(sink);
	} else {
		message_error(err);
		sink->incomplete = true;
		sink->calls->fail(sink->run, PMP_EXIT_FAILED);
	}
}

static bool is_whole(const struct sink *sink)
{
	return sink->state->failure != PMP_EXIT_OUTPUT && !sink->incomplete &&
	       !atomic_file_error(sink->output);
}

/* A job for the worker: write a profile. */
struct writing {
	struct counting *counting;
	struct atomic_file *output;
	const struct pmp_write_options *options;
	int code;
	struct pmp_error err;
};

static void write_profile(void *arg)
{
	struct writing *writing = arg;
	struct counting *counting = writing->counting;
	const struct pmp_sink sink = { atomic_file_write, writing->output };

	writing->code = counting_report(counting, &writing->err);
	if (writing->code == 0)
		writing->code =
			pmp_report_write(counting->report, counting->options->format,
					 writing->options, &sink, &writing->err);
	atomic_file_flush(writing->output);
}

static void write_output(struct sink *sink)
{
	const struct pmp_write_options options =
		write_options(sink->options, sink->counting->base);
	struct writing writing = { sink->counting, sink->output, &options, 0, { 0 } };

	if (!is_whole(sink))
		return;
	/* Now files are read for the names of functions. */
	if (!sink->options->output && isatty(STDOUT_FILENO))
		progress_clear();
	else if (!sink->options->format->snapshots)
		progress_work(sink->progress, "naming functions");
	sink->calls->work(sink->run, write_profile, &writing);
	if (writing.code < 0 || atomic_file_error(sink->output))
		write_failed(sink, &writing.err);
	progress_work(sink->progress, NULL);
}

/* A job for the worker: commit. err is for the removal of old files. */
struct committing {
	struct atomic_file *output;
	uint64_t keep;
	int kept;
	struct pmp_error err;
};

static void commit_output(void *arg)
{
	struct committing *committing = arg;

	if (atomic_file_commit(committing->output) == 0 && committing->keep)
		committing->kept = atomic_file_keep(committing->output, committing->keep,
						    &committing->err);
}

static void commit(struct sink *sink)
{
	struct committing committing = { sink->output, sink->options->keep, 0, { 0 } };

	if (!is_whole(sink))
		return;
	sink->calls->work(sink->run, commit_output, &committing);
	if (atomic_file_error(sink->output)) {
		write_failed(sink, NULL);
		return;
	}
	summary_written(sink->counting, &sink->source->targets, &sink->named,
			atomic_file_path(sink->output));
	if (committing.kept < 0)
		message_error(&committing.err);
}

static void commit_copy(void *arg)
{
	atomic_file_commit_copy(arg);
}

/* Write the profile so far. */
static void show_profile(struct sink *sink)
{
	if (!targets_counted(&sink->source->targets) || !sink->output)
		return;
	write_output(sink);
	commit(sink);
}

/* Make the snapshots so far visible; more follow. */
static void show_text(struct sink *sink)
{
	if (sink->source->targets.snapshots == 0 || !sink->output || !is_whole(sink))
		return;
	sink->calls->work(sink->run, commit_copy, sink->output);
	if (atomic_file_error(sink->output))
		write_failed(sink, NULL);
}

struct opening {
	struct atomic_file *output;
	struct atomic_file_target target;
	int code;
	struct pmp_error err;
};

static void open_output(void *arg)
{
	struct opening *opening = arg;

	opening->code =
		atomic_file_open(&opening->output, &opening->target, &opening->err);
}

static void open_file(struct sink *sink)
{
	struct opening opening = {
		.target = {
			.name = sink->options->output,
			.closed = sink->stdout_closed,
			.pid = sink->named.pid,
			.process = sink->named.name,
			.wait = &sink->wait,
		},
	};

	sink->calls->work(sink->run, open_output, &opening);
	sink->output = opening.output;
	sink->incomplete = false;
	if (opening.code < 0) {
		message_error(&opening.err);
		if (opening.code == PMP_ENOMEM)
			sink->calls->fail(sink->run, PMP_EXIT_FAILED);
		else
			output_failed(sink);
	} else if (atomic_file_error(sink->output)) { /* standard output was closed */
		write_failed(sink, NULL);
	}
}

/* Name the file after the first process that is opened, or after saved profiles. */
static void name_file(struct sink *sink, const struct process *process)
{
	if (sink->output || sink->state->failure || sink->named.name[0])
		return;
	sink->source->type->name_after(sink->source, process, &sink->named);
	open_file(sink);
}

static void text_targets(struct sink *sink, const struct process *process)
{
	name_file(sink, process);
	/* A saved profile is complete. */
	if (sink->source->type->saved && sink->output)
		write_output(sink);
}

/* Are there samples, or records of a recorder, which all profiles of a run have? */
static bool has_something(const struct sink *sink)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(sink->counting->profile, &info);
	return info.samples || sink->source->targets.batches;
}

/* Commit the current file. */
static void finish_text(struct sink *sink)
{
	if (sink->next_file && !sink->output)
		open_file(sink);
	if (sink->output && has_something(sink))
		commit(sink);
}

static void finish_profile(struct sink *sink)
{
	if (sink->next_file && !sink->output)
		open_file(sink);
	if (!sink->output || !has_something(sink))
		return;
	write_output(sink);
	commit(sink);
}

/* --every: the current file is complete; begin another one, with a new profile. */
static void begin_next(struct sink *sink, uint64_t now)
{
	const uint64_t every = sink->options->every;
	struct pmp_error err = { 0 };

	sink->next_file += (now - sink->next_file) / every * every + every;
	if (has_something(sink)) {
		sink->type->finish(sink);
		if (counting_restart(sink->counting, &err) < 0) {
			message_error(&err);
			sink->calls->fail(sink->run, PMP_EXIT_FAILED);
		}
	}
	atomic_file_free(sink->output);
	sink->output = NULL;
	if (!sink->state->failure)
		open_file(sink);
}

/* time: when a snapshot was taken; it may have been queued for long. */
static void boundary(struct sink *sink, uint64_t time)
{
	if (sink->next_file && time >= sink->next_file && !PMP_FAULT("skip-boundary"))
		begin_next(sink, time);
	else if (sink->options->every && !sink->next_file)
		sink->next_file = time + sink->options->every;
}

/* Begin the next file even if no snapshot comes. */
static void tend(struct sink *sink)
{
	const uint64_t now = now_ns();

	if (sink->next_file && !sink->state->finished && !sink->state->heard &&
	    now >= sink->next_file + SUPERVISE_MS * NS_PER_MS)
		begin_next(sink, now);
}

static void nothing(struct sink *sink)
{
	(void)sink;
}

static int nothing_to_open(struct sink *sink)
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

static void text_sampled(struct sink *sink)
{
	if (sink->output)
		write_output(sink);
}

static void close_file(struct sink *sink)
{
	atomic_file_free(sink->output);
	sink->output = NULL;
}

static void needs(const struct options *options, struct counting_needs *needs)
{
	const struct pmp_format *format = options->format;

	needs->details = format->details ||
			 (!options->diff && (options->by_state || options->by_lock));
	needs->times = format->times;
	needs->waits = format->waits || options->waits || options->by_lock;
	needs->snapshots = format->snapshots;
	needs->lines = options->lines || options->proto || format->details;
}

static bool is_text(const struct options *options)
{
	return options->format->snapshots;
}

static bool is_profile(const struct options *options)
{
	return !options->format->snapshots;
}

/* Members that are the same for both sinks. */
#define FILE_CALLS \
	.needs = needs, .prepare = nothing_to_open, .open = nothing_to_open, \
	.start = nothing, .boundary = boundary, .tend = tend, .timeout = any_time, \
	.suspend = nothing, .resume = nothing, .stays = never_stays, .leave = nothing, \
	.close = close_file

/* For formats that write each snapshot at once. */
const struct sink_type sink_text = {
	.name = "text-file",
	.is_meant = is_text,
	FILE_CALLS,
	.targets = text_targets,
	.sampled = text_sampled,
	.show = show_text,
	.finish = finish_text,
};

/* For formats that write the counted profile. */
const struct sink_type sink_profile = {
	.name = "profile-file",
	.is_meant = is_profile,
	FILE_CALLS,
	.targets = name_file,
	.sampled = nothing,
	.show = show_profile,
	.finish = finish_profile,
};
