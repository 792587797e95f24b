/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See saved.h. */
#include "source/saved.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "run/counting.h"
#include "say/message.h"
#include "say/progress.h"
#include "say/rights.h"
#include "source/core-file.h"
#include "source/input.h"
#include "source/source.h"

#define SHOWN_MAX 128 /* of a name, in a hint */

/* The job of the worker. */
struct saved_file {
	const struct counting *counting;
	struct pmp_profile *profile;
	const char *path, *hint;
	bool is_core;
	char crash[TARGETS_CRASH_SIZE];
	int code;
	struct pmp_error err;
};

/* Add the hint only if there is no such file. */
static void cannot_open(struct saved_file *reading)
{
	if (reading->err.sys_errno == ENOENT && reading->hint && !*reading->err.hint)
		snprintf(reading->err.hint, sizeof(reading->err.hint), "%s",
			 reading->hint);
}

/* Only a core tells who waits for whom, a saved profile does not. */
static int refuse_saved(struct saved_file *reading)
{
	struct pmp_error *err = &reading->err;
	int code = message_fill(err, PMP_EINVAL, 0,
				"the format %s is of running processes and core files: a "
				"saved profile does not say who waits for whom",
				reading->counting->options->format->name);

	snprintf(err->hint, sizeof(err->hint),
		 "who waits now: pmp --locks -p PID; how long whose threads have waited: "
		 "pmp -f contention %s",
		 reading->path);
	return code;
}

static void read_profile(struct saved_file *reading, const struct input *input)
{
	const struct options *options = reading->counting->options;

	reading->code = pmp_profile_read(reading->profile, input->fd, reading->path,
					 &reading->err);
	if (!reading->code && options->format->live && !options->wants_screen)
		reading->code = refuse_saved(reading);
}

static void note_rights(const struct input *input)
{
	rights_note("what looks at packed files", input->judge_missing);
	rights_note(input->unpacker, input->unpacker_missing);
}

static void read_file(void *arg)
{
	struct saved_file *reading = arg;
	struct input input;

	reading->code = input_open(&input, reading->path,
				   reading->counting->options->no_sandbox, &reading->err);
	reading->is_core = input.is_core;
	if (reading->counting->options->verbose)
		note_rights(&input);
	if (reading->code)
		cannot_open(reading);
	else if (input.is_core)
		reading->code =
			core_file_read(reading->counting, reading->profile, &input,
				       reading->path, reading->crash, &reading->err);
	else
		read_profile(reading, &input);
	if (reading->code == PMP_EFORMAT && input.is_program && !input.is_core)
		snprintf(reading->err.hint, sizeof(reading->err.hint),
			 "to profile a program from its start: pmp -- %.*s", SHOWN_MAX,
			 reading->path);
	if (reading->code == PMP_ESRCH)
		snprintf(reading->err.hint, sizeof(reading->err.hint),
			 "if you trust it, --no-sandbox reads it in pmp itself");
	input_close(&input);
}

int saved_read(struct source *source, struct pmp_profile *profile, const char *path,
	       const char *hint, bool *is_core)
{
	struct saved_file reading = { .counting = source->counting,
				      .profile = profile,
				      .path = path,
				      .hint = hint };
	char work[256];

	snprintf(work, sizeof(work), "reading %s", path);
	progress_work(source->progress, work);
	source->calls->read(source->run, read_file, &reading, path);
	progress_work(source->progress, NULL);
	if (is_core) {
		*is_core = reading.is_core;
		memcpy(source->targets.crash, reading.crash, sizeof(reading.crash));
	}
	if (reading.code == 0)
		return 0;
	message_error(&reading.err);
	return reading.code == PMP_ENOMEM ? PMP_EXIT_FAILED : PMP_EXIT_USAGE;
}
