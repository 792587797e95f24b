/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the live view asks of the front. */
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "counting.h"
#include "filename.h"
#include "message.h"
#include "saved.h"

#define NAME_MAX_LENGTH 1024
static void view_pause(struct pmp_app *app, bool paused)
{
	app->paused = paused;
	pmp_sampler_command(&app->sampler,
			    paused ? PMP_SAMPLER_PAUSE : PMP_SAMPLER_RESUME);
}

static void view_interval(struct pmp_app *app, uint64_t interval)
{
	if (app->sampler.page)
		app->sampler.page->interval = interval;
	pmp_sampler_command(&app->sampler, PMP_SAMPLER_INTERVAL);
}

static void view_now(struct pmp_app *app)
{
	pmp_sampler_command(&app->sampler, PMP_SAMPLER_NOW);
}

/* All has been written if code is 0: the file gets its name. Frees the output. */
static int finish_output(struct pmp_output *output, const char *path, int code,
			 struct pmp_error *err)
{
	if (code == 0 && pmp_output_commit(output) < 0)
		code = pmp_message_fill(err, PMP_EIO, -pmp_output_error(output),
					"cannot write %s", path);
	pmp_output_free(output);
	return code;
}

static int view_write(struct pmp_app *app, const char *path, struct pmp_error *err)
{
	const struct pmp_write_options options = {
		.size = sizeof(options),
		.by_thread = app->options.by_thread || app->options.by_group,
		.lines = app->options.lines,
		.module = app->options.module,
		.raw_names = app->options.by_thread,
	};
	const struct pmp_format *format = pmp_options_format_of(path);
	struct pmp_process process = { .pid = 0 };
	struct pmp_output *output = NULL;
	struct pmp_sink sink;
	int code;

	if (app->options.file_count)
		pmp_saved_name(app, process.name, sizeof(process.name));
	else if (app->process_count)
		process = app->processes[0];
	if (!format || !*process.name || !pmp_filename_check(path))
		return pmp_message_fill(err, PMP_EINVAL, 0,
					"the extension of '%s' names no format", path);
	code = pmp_output_open(&output, path, false, process.pid, process.name, err);
	if (code < 0)
		return code;
	sink = (struct pmp_sink){ pmp_output_write, output };
	code = pmp_profile_write(app->profile, format, &options, &sink, err);
	return finish_output(output, path, code, err);
}

/* A name as it is: nothing in it stands for something else. */
static bool quote_name(const char *path, char *name, size_t size)
{
	size_t length = 0;

	for (; *path && length + 2 < size; path++) {
		if (*path == '%')
			name[length++] = '%';
		name[length++] = *path;
	}
	name[length] = '\0';
	return !*path;
}

static int view_save(struct pmp_app *app, const char *path, const char *text, size_t length,
		     struct pmp_error *err)
{
	struct pmp_output *output = NULL;
	char name[2 * NAME_MAX_LENGTH];
	int code;

	(void)app;
	if (!quote_name(path, name, sizeof(name)))
		return pmp_message_fill(err, PMP_EIO, ENAMETOOLONG, "cannot write %s", path);
	code = pmp_output_open(&output, name, false, 0, "", err);
	if (code < 0)
		return code;
	/* An error of this shows when the file is to get its name. */
	pmp_output_write(output, text, length);
	return finish_output(output, path, 0, err);
}

const struct pmp_session_host pmp_host = {
	.pause = view_pause,
	.set_interval = view_interval,
	.sample_now = view_now,
	.reset = pmp_counting_restart,
	.write = view_write,
	.save = view_save,
	.quit = pmp_front_quit,
};
