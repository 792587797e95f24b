/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of a run: one file, one in each interval of --every, or standard output. While
 * it cannot be written signals and the watch over the sampler go on.
 */
#include "results.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "counting.h"
#include "diff.h"
#include "message.h"
#include "report.h"

#define LOOK_MS 100

/* The wait of a struct pmp_output_wait. */
static void wait_for_output(void *arg, int fd)
{
	struct pmp_app *app = arg;
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = app->wake, .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, 2, LOOK_MS);

		if ((n > 0 && fds[0].revents) || (n < 0 && errno != EINTR))
			return;
		pmp_front_tend(app, false);
	}
}

/* Of a series of files the next one may succeed: a disk is full for a while. */
static void output_failed(struct pmp_app *app)
{
	if (app->options.every && app->options.output && app->next_file)
		app->file_failed = true;
	else
		pmp_front_fail(app, PMP_EXIT_OUTPUT);
}

static void write_failed(struct pmp_app *app, const struct pmp_error *err)
{
	if (pmp_output_error(app->output)) {
		pmp_output_complain(app->output);
		output_failed(app);
	} else {
		pmp_message_error(err);
		pmp_front_fail(app, PMP_EXIT_FAILED);
	}
}

void pmp_results_write(struct pmp_app *app)
{
	const struct pmp_write_options options = {
		.size = sizeof(options),
		.by_thread = app->options.by_thread || app->options.by_group,
		.lines = app->options.lines,
		.module = app->options.module,
		.raw_names = app->options.by_thread,
		.title = app->options.title,
		.width = (unsigned)app->options.width,
		.icicle = app->options.icicle,
		.by_state = app->options.by_state,
		.legend = app->options.verbose > 0,
		.all_rows = app->options.verbose > 0,
		.columns = pmp_diff_columns(app),
		.sort = (enum pmp_sort)app->options.sort,
	};
	const struct pmp_sink sink = { pmp_output_write, app->output };
	struct pmp_error err = { 0 };
	int code;

	if (app->failure == PMP_EXIT_OUTPUT || pmp_output_error(app->output))
		return;
	/* Functions are named now, for which files are read. */
	if (!app->options.output && isatty(STDOUT_FILENO))
		pmp_progress_clear();
	else if (!app->options.format->snapshots)
		pmp_progress_work(&app->progress, "naming functions");
	if (app->base)
		code = pmp_profile_write_diff(app->profile, app->base, app->options.format,
					      &options, &sink, &err);
	else
		code = pmp_profile_write(app->profile, app->options.format, &options, &sink,
					 &err);
	if (code < 0 || pmp_output_flush(app->output) < 0)
		write_failed(app, &err);
	pmp_progress_work(&app->progress, NULL);
}

static void commit(struct pmp_app *app)
{
	struct pmp_error err;

	if (app->failure == PMP_EXIT_OUTPUT || pmp_output_error(app->output))
		return;
	if (pmp_output_commit(app->output) < 0) {
		write_failed(app, NULL);
		return;
	}
	pmp_report_written(app);
	if (app->options.keep &&
	    pmp_output_keep(app->output, app->options.keep, &err) < 0)
		pmp_message_error(&err);
}

void pmp_results_now(struct pmp_app *app)
{
	app->caught.write = false;
	if (app->snapshots == 0 || !app->output)
		return;
	if (!app->options.format->snapshots) {
		pmp_results_write(app);
		commit(app);
	} else if (!pmp_output_error(app->output) &&
		   pmp_output_commit_copy(app->output) < 0) {
		write_failed(app, NULL);
	}
}

void pmp_results_open(struct pmp_app *app)
{
	const struct pmp_output_wait wait = { wait_for_output, app };
	struct pmp_error err;
	int code = pmp_output_open(&app->output, app->options.output, app->stdout_closed,
				   app->named.pid, app->named.name, &err);

	if (code < 0) {
		pmp_message_error(&err);
		if (code == PMP_ENOMEM)
			pmp_front_fail(app, PMP_EXIT_FAILED);
		else
			output_failed(app);
		return;
	}
	pmp_output_set_wait(app->output, &wait);
	if (pmp_output_error(app->output)) /* standard output was closed */
		write_failed(app, NULL);
}

/* All of the profile in hand, under its name. */
static void finish_file(struct pmp_app *app)
{
	if (!app->options.format->snapshots)
		pmp_results_write(app);
	commit(app);
}

static uint64_t samples_in_hand(const struct pmp_app *app)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(app->profile, &info);
	return info.samples;
}

void pmp_results_next(struct pmp_app *app, uint64_t now)
{
	const uint64_t every = app->options.every;
	struct pmp_error err = { 0 };

	app->next_file += (now - app->next_file) / every * every + every;
	if (samples_in_hand(app)) {
		if (!app->output)
			pmp_results_open(app);
		if (app->output)
			finish_file(app);
		if (pmp_counting_restart(app, &err) < 0) {
			pmp_message_error(&err);
			pmp_front_fail(app, PMP_EXIT_FAILED);
		}
	}
	pmp_output_free(app->output);
	app->output = NULL;
	if (!app->failure)
		pmp_results_open(app);
}

void pmp_results_end(struct pmp_app *app)
{
	if (app->next_file && !app->output)
		pmp_results_open(app);
	if (app->output && samples_in_hand(app))
		finish_file(app);
}
