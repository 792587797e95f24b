/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the live view has done for it: by the sampler, by what counts, by the disk. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"
#include "run/new-profile.h"
#include "say/message.h"
#include "sink/filename.h"
#include "sink/write-runs.h"
#include "view/session-state.h"
#include "view/settings-file.h"

/* ---- sampling ----------------------------------------------------------------- */

static void pause_sampling(void *arg, bool paused)
{
	struct run *run = ((struct session *)arg)->run;

	run->paused = paused;
	run->source->pause(run, paused);
}

static void set_interval(void *arg, uint64_t interval)
{
	struct session *session = arg;

	session->run->source->set_interval(session->run, interval);
	view_say(&session->view, "%.3g snapshots a second", 1e9 / (double)interval);
}

static void sample_now(void *arg)
{
	struct run *run = ((struct session *)arg)->run;

	run->source->sample_now(run);
}

static void restart_counting(void *arg)
{
	struct session *session = arg;
	struct pmp_error err = { 0 };

	view_set_profile(&session->view, NULL);
	if (counting_restart(session->run, &err) < 0)
		view_say(&session->view, "%s", err.message);
	else
		view_say(&session->view, "Counting from the beginning");
	view_set_profile(&session->view, session->run->profile);
}

static void leave(void *arg)
{
	struct session *session = arg;

	run_quit(session->run);
}

/* ---- writing ------------------------------------------------------------------ */

/* All has been written if code is 0: the file gets its name. Frees the output. */
static int finish_output(struct output *output, const char *path, int code,
			 struct pmp_error *err)
{
	if (code == 0 && output_commit(output) < 0)
		code = message_fill(err, PMP_EIO, -output_error(output),
				    "cannot write %s", path);
	output_free(output);
	return code;
}

/* What the names of files are made of: 0, or PMP_EINVAL while there is no process yet. */
static int name_process(const struct run *run, struct process *process,
			struct pmp_error *err)
{
	if (run->source->name_after(run, NULL, process))
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
	if (!format)
		message_fill(err, PMP_EINVAL, 0, "the extension of '%s' names no format",
			     path);
	return format;
}

/* What a format would show, had it been asked for from the start; "": nothing. */
static const char *lacks(const struct run *run, const struct pmp_format *format)
{
	if (!format->times || run->options.format->times)
		return "";
	return run->source->saved ? "without the course of time: it is not saved"
				  : "without the course of time (-f speedscope has it)";
}

/* What the worker writes. */
struct errand {
	const struct run *run;
	struct output_target target;
	const struct pmp_write_options *options;
	const struct pmp_format *format;
	int code;
	struct pmp_error *err;
};

static int write_report(const struct errand *errand, struct output *output)
{
	const struct run *run = errand->run;
	const struct pmp_report_options what = {
		.size = sizeof(what),
		.snapshot = errand->format->snapshots,
	};
	const struct pmp_sink sink = { output_write, output };
	struct pmp_report *report = NULL;
	int code = pmp_report_new(run->profile, run->options.filter, &what, &report,
				  errand->err);

	if (code == 0)
		code = pmp_report_write(report, errand->format, errand->options, &sink,
					errand->err);
	pmp_report_free(report);
	return code;
}

static void run_errand(void *arg)
{
	struct errand *errand = arg;
	struct output *output = NULL;

	errand->code = output_open(&output, &errand->target, errand->err);
	if (errand->code < 0)
		return;
	errand->code = write_report(errand, output);
	errand->code =
		finish_output(output, errand->target.name, errand->code, errand->err);
}

static int write_profile(struct run *run, const char *path, struct pmp_error *err)
{
	const struct pmp_write_options options = results_options(run);
	struct process process = { .pid = 0 };
	struct errand errand = {
		.run = run,
		.target = { .name = path,
			    .process = process.name,
			    .wait = &run->output_wait },
		.options = &options,
		.format = format_of(path, err),
		.err = err,
	};
	int code = errand.format ? name_process(run, &process, err) : PMP_EINVAL;

	if (code < 0)
		return code;
	errand.target.pid = process.pid;
	run_work(run, run_errand, &errand);
	if (errand.code == 0)
		snprintf(err->hint, sizeof(err->hint), "%s", lacks(run, errand.format));
	return errand.code;
}

static void write_file(void *arg, const char *path)
{
	struct session *session = arg;
	struct pmp_error err = { 0 };
	char text[200];
	int code;

	code = write_profile(session->run, path, &err);
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

	run_work(session->run, save, &session->view);
}

const struct view_actions view_actions = {
	.pause = pause_sampling,
	.set_interval = set_interval,
	.refresh = sample_now,
	.reset = restart_counting,
	.write = write_file,
	.save = save_settings,
	.quit = leave,
};
