/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of a run: one file, one in each interval of --every, or standard output. What
 * may take long is done by the worker.
 */
#include "sink/write-runs.h"

#include <unistd.h>

#include "base/fault.h"
#include "run/clock.h"
#include "run/new-profile.h"
#include "say/message.h"
#include "say/summary.h"
#include "source/diff.h"

/* Of a series of files the next one may succeed: a disk is full for a while. */
static void output_failed(struct run *run)
{
	if (run->options.every && run->options.output && run->next_file)
		run->file_failed = true;
	else
		run_fail(run, PMP_EXIT_OUTPUT);
}

static void write_failed(struct run *run, const struct pmp_error *err)
{
	if (output_error(run->output)) {
		output_complain(run->output);
		output_failed(run);
	} else {
		message_error(err);
		run_fail(run, PMP_EXIT_FAILED);
	}
}

/* What the worker writes. */
struct writing {
	struct run *run;
	struct output *output;
	const struct pmp_write_options *options;
	int code;
	struct pmp_error err;
};

static void write_profile(void *arg)
{
	struct writing *writing = arg;
	struct run *run = writing->run;
	const struct pmp_sink sink = { output_write, writing->output };

	writing->code = counting_report(run, &writing->err);
	if (writing->code == 0)
		writing->code = pmp_report_write(run->report, run->options.format,
						 writing->options, &sink, &writing->err);
	output_flush(writing->output);
}

struct pmp_write_options results_options(const struct run *run)
{
	return (struct pmp_write_options){
		.size = sizeof(struct pmp_write_options),
		.by_thread = run->options.by_thread || run->options.by_group,
		.lines = run->options.lines,
		.module = run->options.module,
		.raw_names = run->options.by_thread,
		.title = run->options.title,
		.width = (unsigned)run->options.width,
		.icicle = run->options.icicle,
		.by_state = run->options.by_state,
		.legend = run->options.verbose > 0,
		.all_rows = run->options.verbose > 0,
		.columns = diff_columns(run),
		.sort = (enum pmp_sort)run->options.sort,
	};
}

static void write_output(struct run *run)
{
	const struct pmp_write_options options = results_options(run);
	struct writing writing = { run, run->output, &options, 0, { 0 } };

	if (run->failure == PMP_EXIT_OUTPUT || output_error(run->output))
		return;
	/* Functions are named now, for which files are read. */
	if (!run->options.output && isatty(STDOUT_FILENO))
		progress_clear();
	else if (!run->options.format->snapshots)
		progress_work(&run->progress, "naming functions");
	run_work(run, write_profile, &writing);
	if (writing.code < 0 || output_error(run->output))
		write_failed(run, &writing.err);
	progress_work(&run->progress, NULL);
}

/* Of an output; what is to be said of the oldest files stays in err. */
struct committing {
	struct output *output;
	uint64_t keep;
	int kept;
	struct pmp_error err;
};

static void commit_output(void *arg)
{
	struct committing *committing = arg;

	if (output_commit(committing->output) == 0 && committing->keep)
		committing->kept = output_keep(committing->output, committing->keep,
					       &committing->err);
}

static void commit(struct run *run)
{
	struct committing committing = { run->output, run->options.keep, 0, { 0 } };

	if (run->failure == PMP_EXIT_OUTPUT || output_error(run->output))
		return;
	run_work(run, commit_output, &committing);
	if (output_error(run->output)) {
		write_failed(run, NULL);
		return;
	}
	report_written(run);
	if (committing.kept < 0)
		message_error(&committing.err);
}

static void commit_copy(void *arg)
{
	output_commit_copy(arg);
}

/* The profile, as far as it has come. */
static void show_profile(struct run *run)
{
	if (run->snapshots == 0 || !run->output)
		return;
	write_output(run);
	commit(run);
}

/* The snapshots so far; more follow. */
static void show_text(struct run *run)
{
	if (run->snapshots == 0 || !run->output || output_error(run->output))
		return;
	run_work(run, commit_copy, run->output);
	if (output_error(run->output))
		write_failed(run, NULL);
}

struct opening {
	struct output *output;
	struct output_target target;
	int code;
	struct pmp_error err;
};

static void open_output(void *arg)
{
	struct opening *opening = arg;

	opening->code = output_open(&opening->output, &opening->target, &opening->err);
}

static void open_file(struct run *run)
{
	struct opening opening = {
		.target = {
			.name = run->options.output,
			.closed = run->stdout_closed,
			.pid = run->named.pid,
			.process = run->named.name,
			.wait = &run->output_wait,
		},
	};

	run_work(run, open_output, &opening);
	run->output = opening.output;
	if (opening.code < 0) {
		message_error(&opening.err);
		if (opening.code == PMP_ENOMEM)
			run_fail(run, PMP_EXIT_FAILED);
		else
			output_failed(run);
	} else if (output_error(run->output)) { /* standard output was closed */
		write_failed(run, NULL);
	}
}

/* The first one that is there gives the file its name, and so do saved profiles. */
static void name_file(struct run *run, const struct process *process)
{
	if (run->output || run->failure || run->named.name[0])
		return;
	run->source->name_after(run, process, &run->named);
	open_file(run);
}

static void text_targets(struct run *run, const struct process *process)
{
	name_file(run, process);
	/* Of a saved profile they are all there. */
	if (run->source->saved && run->output)
		write_output(run);
}

static uint64_t samples_in_hand(const struct run *run)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(run->profile, &info);
	return info.samples;
}

/* The file in hand gets its name; a profile is written then. */
static void finish_text(struct run *run)
{
	if (run->next_file && !run->output)
		open_file(run);
	if (run->output && samples_in_hand(run))
		commit(run);
}

static void finish_profile(struct run *run)
{
	if (run->next_file && !run->output)
		open_file(run);
	if (!run->output || !samples_in_hand(run))
		return;
	write_output(run);
	commit(run);
}

/* --every: the file in hand is complete; another one begins, with a profile of its own. */
static void begin_next(struct run *run, uint64_t now)
{
	const uint64_t every = run->options.every;
	struct pmp_error err = { 0 };

	run->next_file += (now - run->next_file) / every * every + every;
	if (samples_in_hand(run)) {
		run->sink->finish(run);
		if (counting_restart(run, &err) < 0) {
			message_error(&err);
			run_fail(run, PMP_EXIT_FAILED);
		}
	}
	output_free(run->output);
	run->output = NULL;
	if (!run->failure)
		open_file(run);
}

/* time: when a snapshot was taken, which may have waited long for us. */
static void boundary(struct run *run, uint64_t time)
{
	if (run->next_file && time >= run->next_file && !PMP_FAULT("skip-boundary"))
		begin_next(run, time);
	else if (run->options.every && !run->next_file)
		run->next_file = time + run->options.every;
}

/* When no snapshot comes that would do it. */
static void tend(struct run *run)
{
	const uint64_t now = now_ns();

	if (run->next_file && !run->finished && !run->heard &&
	    now >= run->next_file + SUPERVISE_MS * NS_PER_MS)
		begin_next(run, now);
}

static void nothing(struct run *run)
{
	(void)run;
}

static int nothing_to_open(struct run *run)
{
	(void)run;
	return 0;
}

static int any_time(const struct run *run, int most)
{
	(void)run;
	return most;
}

static bool never_stays(struct run *run)
{
	(void)run;
	return false;
}

static void text_sampled(struct run *run)
{
	if (run->output)
		write_output(run);
}

static void close_file(struct run *run)
{
	output_free(run->output);
	run->output = NULL;
}

static void needs(const struct options *options, struct sink_needs *needs)
{
	const struct pmp_format *format = options->format;

	needs->details = !options->diff && (options->by_state || format->details);
	needs->times = format->times;
	needs->snapshots = format->snapshots;
	needs->lines = options->lines || format->details;
}

static bool is_text(const struct options *options)
{
	return options->format->snapshots;
}

static bool is_profile(const struct options *options)
{
	return !options->format->snapshots;
}

/* Formats that write each snapshot when it has been taken. */
const struct sink sink_text = {
	.name = "text-file",
	.is_meant = is_text,
	.needs = needs,
	.open = nothing_to_open,
	.start = nothing,
	.targets = text_targets,
	.boundary = boundary,
	.sampled = text_sampled,
	.show = show_text,
	.tend = tend,
	.timeout = any_time,
	.suspend = nothing,
	.resume = nothing,
	.stays = never_stays,
	.leave = nothing,
	.finish = finish_text,
	.close = close_file,
};

/* Formats that write what has been counted. */
const struct sink sink_profile = {
	.name = "profile-file",
	.is_meant = is_profile,
	.needs = needs,
	.open = nothing_to_open,
	.start = nothing,
	.targets = name_file,
	.boundary = boundary,
	.sampled = nothing,
	.show = show_profile,
	.tend = tend,
	.timeout = any_time,
	.suspend = nothing,
	.resume = nothing,
	.stays = never_stays,
	.leave = nothing,
	.finish = finish_profile,
	.close = close_file,
};
