/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved profiles and core files: pmp FILE, without a sampler and without a process. */
#include <stdio.h>
#include <string.h>

#include "run/counting.h"
#include "run/run-state.h"
#include "options/filename.h"
#include "say/message.h"
#include "source/diff.h"
#include "source/sampling.h"
#include "source/saved.h"
#include "source/source.h"

static bool is_meant(const struct options *options)
{
	return options->file_count;
}

static int open_files(struct source *source, struct id_list *pids)
{
	(void)source;
	(void)pids;
	return 0;
}

/* Each core is a snapshot, and only one is kept: so write each but the last as
 * soon as it has been read. */
static void show_core(struct source *source, bool last)
{
	const struct options *options = source->options;

	if (last || !options->format->snapshots || options->wants_screen)
		return;
	source->targets.snapshots = 1;
	source->calls->targets(source->run, NULL);
}

static int refuse_mixture(void)
{
	message_print("give them one after the other: pmp CORE; pmp PROFILE",
		      "core files and saved profiles cannot be written together in this "
		      "format");
	return PMP_EXIT_USAGE;
}

/* Refuse formats that show only a recorded heap, if there is none. */
static int check_heap(const struct source *source)
{
	const struct options *options = source->options;
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(source->counting->profile, &info);
	if (options->wants_screen || options->format->heap != PMP_HEAP_ALONE ||
	    info.heap_distinct || info.heap_processes)
		return 0;
	message_print("to record one: pmp --heap -o heap.pb.gz -- COMMAND",
		      "the format %s needs a recorded heap: there is none in %s",
		      options->format->name,
		      options->file_count > 1 ? "these files" : options->files[0]);
	return PMP_EXIT_USAGE;
}

/* Values of a heap do not say for how long threads waited. */
static int check_waits(const struct source *source)
{
	const struct options *options = source->options;
	struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };
	char type[128];

	pmp_profile_describe(source->counting->profile, &metadata);
	if (options->wants_screen || !options_shows_waits(options->format) ||
	    !options_is_heap_value(metadata.type))
		return 0;
	message_print("write the heap: -f memory, -f folded",
		      "the format %s has no sample type '%s'", options->format->name,
		      pmp_escape(metadata.type, type, sizeof(type)));
	return PMP_EXIT_USAGE;
}

static int read_all(struct source *source)
{
	static const char hint[] =
		"to profile a process: pmp -p PID; a command: pmp -- COMMAND";
	const struct options *options = source->options;
	const bool apart = options->format->snapshots && !options->wants_screen;
	bool is_core, was_core = false;
	int status = 0;

	for (size_t i = 0; i < options->file_count && !status; i++) {
		status = saved_read(source, source->counting->profile, options->files[i],
				    hint, &is_core);
		if (!status && apart && i && is_core != was_core)
			return refuse_mixture();
		was_core = is_core;
		source->targets.cores = is_core && (!i || source->targets.cores);
		if (!status && is_core)
			show_core(source, i + 1 == options->file_count);
	}
	if (!status)
		status = check_heap(source);
	if (!status)
		status = check_waits(source);
	return status ? status : diff_check(source->counting);
}

/* Read all files at once. */
static int receive(struct source *source)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	struct targets *targets = &source->targets;
	int status;

	source->state->finished = true;
	status = read_all(source);
	source->state->failure = status;
	if (status)
		return status;
	pmp_profile_info(source->counting->profile, &info);
	targets->snapshots = info.samples;
	targets->done.elapsed = info.last_time - info.first_time;
	source->calls->targets(source->run, NULL);
	return 0;
}

/* ---- without sampling, nothing to do ---------------------------------------------- */

static void tend(struct source *source, bool idle)
{
	(void)source;
	(void)idle;
}

static void pause_files(struct source *source, bool paused)
{
	(void)source;
	(void)paused;
}

static bool is_detached(const struct source *source)
{
	(void)source;
	return true;
}

static void set_interval(struct source *source, uint64_t interval)
{
	(void)source;
	(void)interval;
}

static void nothing(struct source *source)
{
	(void)source;
}

/* ---- names ------------------------------------------------------------------------ */

/* The name of the first file without its directory and extension. */
static bool name_after(const struct source *source, const struct process *process,
		       struct process *name)
{
	const char *base = filename_base(source->options->files[0]);

	(void)process;
	*name = (struct process){ .pid = 0 };
	snprintf(name->name, sizeof(name->name), "%.*s", (int)strcspn(base, "."), base);
	return *name->name;
}

/* "db.pb.gz", "3 files: a.pb.gz, ..." */
static void describe(const struct source *source, char *text, size_t size)
{
	const struct options *options = source->options;
	size_t length = 0;
	char name[256];

	*text = '\0';
	if (options->file_count > 1)
		length = (size_t)snprintf(text, size, "%zu files: ", options->file_count);
	for (size_t i = 0; i < options->file_count && length < size; i++) {
		const char *path = options->files[i], *base = filename_base(path);

		length += (size_t)snprintf(
			text + length, size - length, "%s%s", i ? ", " : "",
			pmp_escape(*base ? base : path, name, sizeof(name)));
	}
}

const struct source_type source_file = {
	.name = "files",
	.saved = true,
	.is_meant = is_meant,
	.open = open_files,
	.receive = receive,
	.tend = tend,
	.pause = pause_files,
	.is_detached = is_detached,
	.sample_now = nothing,
	.set_interval = set_interval,
	.look_for_peers = nothing,
	.finish = nothing,
	.stop = nothing,
	.lose = nothing,
	.kill = nothing,
	.name_after = name_after,
	.describe = describe,
	.status = sampling_status,
	.close = nothing,
};
