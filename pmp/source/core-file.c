/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See core-file.h. */
#include "source/core-file.h"

#include <stdio.h>

#include "fetch/fetcher.h"
#include "namer/namer.h"
#include "run/counting.h"
#include "say/message.h"
#include "source/input.h"
#include "source/targets.h"

#define MISSING_SHOWN 5 /* files */
#define MB 1e6

static void note_missing(const struct pmp_core_missing_file *missing, const char *core)
{
	char file[512], build[192] = "", hint[256] = "";

	if (*missing->build_id)
		snprintf(build, sizeof(build), " (build-id %s)", missing->build_id);
	if (missing->program)
		snprintf(hint, sizeof(hint),
			 "--exe says where the program is; --symfs and --debuginfod are "
			 "for all files");
	else
		snprintf(hint, sizeof(hint),
			 "--symfs says where the files of the other machine are; "
			 "--debuginfod fetches them");
	message_note(hint, "%s: stacks through %s%s may end there: %s", core,
		     pmp_escape(missing->path, file, sizeof(file)), build,
		     missing->problem);
}

static void note_files(const struct pmp_core *core, const char *shown)
{
	struct pmp_core_missing_file missing = { .size = sizeof(missing) };
	size_t count = 0;

	while (pmp_core_missing(core, count, &missing)) {
		if (count++ < MISSING_SHOWN)
			note_missing(&missing, shown);
	}
	if (count > MISSING_SHOWN)
		message_note(NULL, "%s: %zu more files are missing", shown,
			     count - MISSING_SHOWN);
}

/* Report what limits the stacks. */
static void note_problems(const struct pmp_core *core, const struct input *input,
			  const char *path)
{
	struct pmp_core_info info = { .size = sizeof(info) };
	char shown[256];

	pmp_core_info(core, &info);
	pmp_escape(path, shown, sizeof(shown));
	if (input->cut)
		message_note(NULL, "%s is not complete: %s", shown, input->cut);
	else if (info.meant > info.length)
		message_note("ulimit -c unlimited, or ProcessSizeMax and "
			     "ExternalSizeMax of coredump.conf, let cores be whole",
			     "%s is cut off: %.1f MB of %.1f are there", shown,
			     (double)info.length / MB, (double)info.meant / MB);
	if (info.no_files)
		message_note(NULL,
			     "%s does not say which files were mapped: functions have no "
			     "names",
			     shown);
	if (info.threads_left_out)
		message_note(NULL, "%s has too many threads: %zu are shown, %zu are not",
			     shown, info.threads, info.threads_left_out);
	note_files(core, shown);
}

static int open_core(const struct counting *counting, const struct input *input,
		     const char *path, struct pmp_core **core, struct pmp_error *err)
{
	const struct options *options = counting->options;
	const struct pmp_core_options core_options = {
		.size = sizeof(core_options),
		.exe = options->exe,
		.symfs = options->symfs,
		.debug_dir = options->debug_dir,
		.fetch = counting->fetcher ? fetcher_get : NULL,
		.fetch_arg = counting->fetcher,
		.unwind = options->unwind,
		.max_frames = (unsigned)options->max_frames,
		.written = input->written,
		.namer = namer_calls(counting->namer),
		.log = options->debug ? message_debug : NULL,
		.log_arg = (void *)options->debug,
	};

	return pmp_core_open(input->fd, path, &core_options, core, err);
}

int core_file_read(const struct counting *counting, struct pmp_profile *profile,
		   const struct input *input, const char *path, char *crash,
		   struct pmp_error *err)
{
	struct pmp_sample *sample = NULL;
	struct pmp_core_info info = { .size = sizeof(info) };
	struct pmp_core *core;
	int code = open_core(counting, input, path, &core, err);

	if (code)
		return code;
	code = pmp_core_sample(core, &sample, err);
	if (!code) {
		/* Another core with the same pid has other threads. */
		pmp_core_info(core, &info);
		snprintf(crash, TARGETS_CRASH_SIZE, "%s", info.crash);
		pmp_profile_forget(profile, info.pid);
		code = pmp_profile_add(profile, sample, err);
	}
	if (!code)
		note_problems(core, input, path);
	pmp_sample_free(sample);
	pmp_core_close(core);
	return code;
}
