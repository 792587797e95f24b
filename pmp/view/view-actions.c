/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the live view delegates: to the sampler, to the counting, to the worker. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/run-state.h"
#include "say/message.h"
#include "options/filename.h"
#include "sink/sink.h"
#include "sink/write-options.h"
#include "source/source.h"
#include "view/read-heap.h"
#include "view/session-state.h"
#include "view/settings-file.h"

/* ---- sampling ----------------------------------------------------------------- */

static struct source *source_of(void *arg)
{
	return ((struct session *)arg)->sink->source;
}

static void pause_sampling(void *arg, bool paused)
{
	struct source *source = source_of(arg);

	source->state->paused = paused;
	source->type->pause(source, paused);
}

static void set_interval(void *arg, uint64_t interval)
{
	struct session *session = arg;
	struct source *source = source_of(arg);

	source->type->set_interval(source, interval);
	view_say(&session->view, "%.3g snapshots a second", 1e9 / (double)interval);
}

static void sample_now(void *arg)
{
	struct source *source = source_of(arg);

	source->type->sample_now(source);
}

static void restart_counting(void *arg)
{
	struct session *session = arg;
	struct counting *counting = session->sink->counting;
	struct pmp_error err = { 0 };

	view_set_profile(&session->view, NULL);
	if (counting_restart(counting, &err) < 0)
		view_say(&session->view, "%s", err.message);
	else
		view_say(&session->view, "Counters reset");
	view_set_profile(&session->view, counting->profile);
}

static void leave(void *arg)
{
	struct sink *sink = ((struct session *)arg)->sink;

	sink->quit = true;
	sink->calls->finish(sink->run);
}

static void read_heap(void *arg, pid_t pid)
{
	read_heap_begin(arg, pid);
}

/* ---- writing ------------------------------------------------------------------ */

/* If code is 0, everything is written: give the file its name. Frees the output. */
static int finish_output(struct atomic_file *output, const char *path, int code,
			 struct pmp_error *err)
{
	if (code == 0 && atomic_file_commit(output) < 0)
		code = message_fill(err, PMP_EIO, -atomic_file_error(output),
				    "cannot write %s", path);
	atomic_file_free(output);
	return code;
}

/* The process that file names refer to. 0, or PMP_EINVAL: there is none yet. */
static int name_process(const struct source *source, struct process *process,
			struct pmp_error *err)
{
	if (source->type->name_after(source, NULL, process))
		return 0;
	return message_fill(err, PMP_EINVAL, 0, "there is nothing to write yet");
}

/* NULL: err says what is wrong with the name. */
static const struct pmp_format *format_of(const char *path, struct pmp_error *err)
{
	const struct pmp_format *format = options_format_of(path);

	if (!filename_check(path)) {
		message_fill(err, PMP_EINVAL, 0, "cannot understand the name '%s'", path);
		snprintf(err->hint, sizeof(err->hint), "%s", PMP_FILENAME_HINT);
		return NULL;
	}
	if (!format) {
		message_fill(err, PMP_EINVAL, 0, "the extension of '%s' names no format",
			     path);
		snprintf(err->hint, sizeof(err->hint),
			 "for example %.100s.pb.gz, .svg, .html, .folded, .txt", path);
	}
	return format;
}

/* In the view of objects, pprof means a profile of these. */
static bool is_of_objects(const struct session *session, const struct pmp_format *format)
{
	return format->census ||
	       (strcmp(format->name, "pprof") == 0 && read_heap_counting(session) &&
		view_type_of(&session->view.model)->row == ROW_OBJECT);
}

/* What the format would show if it had been chosen from the start; "": nothing. */
static const char *lacks(const struct counting *counting, const struct pmp_format *format)
{
	if (!format->times || counting->options->format->times)
		return "";
	return counting->saved ? "without the course of time: it is not saved"
			       : "without the course of time (-f speedscope has it)";
}

/* A file for the worker to write. */
struct errand {
	const struct counting *counting;
	struct atomic_file_target target;
	const struct pmp_write_options *options;
	const struct pmp_format *format;
	int code;
	struct pmp_error *err;
};

static int write_report(const struct errand *errand, struct atomic_file *output)
{
	const struct counting *counting = errand->counting;
	const struct pmp_report_options what = {
		.size = sizeof(what),
		.snapshot = errand->format->snapshots,
		.heap = errand->format->heap == PMP_HEAP_ALONE,
		.with_heap = errand->format->heap == PMP_HEAP_TOO,
		.heap_age = counting->options->heap.age,
		.heap_now = counting->saved ? NULL : now_ns,
	};
	const struct pmp_sink sink = { atomic_file_write, output };
	struct pmp_report *report = NULL;
	int code = pmp_report_new(counting->profile, counting->options->filter, &what,
				  &report, errand->err);

	if (code == 0)
		code = pmp_report_write(report, errand->format, errand->options, &sink,
					errand->err);
	pmp_report_free(report);
	return code;
}

static void run_errand(void *arg)
{
	struct errand *errand = arg;
	struct atomic_file *output = NULL;

	errand->code = atomic_file_open(&output, &errand->target, errand->err);
	if (errand->code < 0)
		return;
	errand->code = write_report(errand, output);
	errand->code =
		finish_output(output, errand->target.name, errand->code, errand->err);
}

/* Write the contents of the heap as last read, instead of what is counted. */
static int turn_to_objects(const struct session *session, struct errand *errand,
			   struct pmp_write_options *options, struct process *process)
{
	struct pmp_named_census_info info;

	options->proto = !errand->format->census;
	errand->format = pmp_format_find("objects");
	errand->counting = read_heap_counting(session);
	if (!errand->counting)
		return message_fill(errand->err, PMP_EINVAL, 0,
				    "no heap has been read: O reads one");
	pmp_named_census_info(session->view.model.census.now, &info);
	process->pid = info.pid;
	snprintf(process->name, sizeof(process->name), "%s", info.process);
	return 0;
}

static int check_saved(const struct errand *errand)
{
	if (!errand->counting->saved || !errand->format->unsaved)
		return 0;
	return message_fill(errand->err, PMP_EINVAL, 0,
			    "the format %s is written while a heap is recorded: a saved "
			    "profile does not have it",
			    errand->format->name);
}

static int write_profile(struct session *session, const char *path, struct pmp_error *err)
{
	struct sink *sink = session->sink;
	struct pmp_write_options options =
		write_options(sink->options, sink->counting->base);
	struct process process = { .pid = 0 };
	struct errand errand = {
		.counting = sink->counting,
		.target = { .name = path, .process = process.name, .wait = &sink->wait },
		.options = &options,
		.format = format_of(path, err),
		.err = err,
	};
	int code = errand.format ? name_process(sink->source, &process, err) : PMP_EINVAL;

	if (code >= 0 && is_of_objects(session, errand.format))
		code = turn_to_objects(session, &errand, &options, &process);
	if (code >= 0)
		code = check_saved(&errand);
	if (code < 0)
		return code;
	errand.target.pid = process.pid;
	sink->calls->work(sink->run, run_errand, &errand);
	if (errand.code == 0)
		snprintf(err->hint, sizeof(err->hint), "%s",
			 lacks(errand.counting, errand.format));
	return errand.code;
}

static void write_file(void *arg, const char *path)
{
	struct session *session = arg;
	struct pmp_error err = { 0 };
	char text[200];
	int code;

	code = write_profile(session, path, &err);
	if (code < 0)
		view_say(&session->view, "%s%s%s", err.message, *err.hint ? ": " : "",
			 err.hint);
	else
		view_say(&session->view, "Written%s%s: %s", *err.hint ? ", " : "",
			 err.hint, pmp_escape(path, text, sizeof(text)));
}

static void save(void *arg)
{
	settings_save(arg);
}

static void save_settings(void *arg)
{
	struct session *session = arg;

	session->sink->calls->work(session->sink->run, save, &session->view);
}

const struct view_actions view_actions = {
	.pause = pause_sampling,
	.set_interval = set_interval,
	.refresh = sample_now,
	.reset = restart_counting,
	.write = write_file,
	.read_heap = read_heap,
	.save = save_settings,
	.quit = leave,
};
