/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved profiles: pmp FILE. There is no sampler then, and no process. */
#include "source/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say/message.h"
#include "sink/filename.h"
#include "source/source.h"
#include "run/run.h"
#include "source/diff.h"

#define SHOWN_MAX 128 /* of a name, in a hint */

static int cannot_open(const char *path, const char *hint, int number)
{
	char shown[512];

	/* What is there was meant as a file. */
	message_print(number == ENOENT ? hint : NULL, "cannot open %s: %s",
		      pmp_escape(path, shown, sizeof(shown)), strerror(number));
	return PMP_EXIT_USAGE;
}

static bool is_program(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_mode & S_IXUSR);
}

int saved_read_one(struct pmp_profile *profile, const char *path, const char *hint)
{
	struct pmp_error err = { 0 };
	int fd = STDIN_FILENO, code;

	if (strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return cannot_open(path, hint, errno);
	code = pmp_profile_read(profile, fd, path, &err);
	if (code == PMP_EFORMAT && fd != STDIN_FILENO && is_program(fd))
		snprintf(err.hint, sizeof(err.hint),
			 "to profile a program from its start: "
			 "pmp -- %.*s",
			 SHOWN_MAX, path);
	if (fd != STDIN_FILENO)
		close(fd);
	if (code == 0)
		return 0;
	message_error(&err);
	return code == PMP_ENOMEM ? PMP_EXIT_FAILED : PMP_EXIT_USAGE;
}

static bool is_meant(const struct options *options)
{
	return options->file_count;
}

/* There is nothing to start. */
static int open_files(struct run *run, struct id_list *pids)
{
	(void)run;
	(void)pids;
	return 0;
}

static int read_all(struct run *run)
{
	static const char hint[] =
		"to profile a process: pmp -p PID; a command: pmp -- COMMAND";
	char work[256];
	int status = 0;

	for (size_t i = 0; i < run->options.file_count && !status; i++) {
		snprintf(work, sizeof(work), "reading %s", run->options.files[i]);
		progress_work(&run->progress, work);
		status = saved_read_one(run->profile, run->options.files[i], hint);
		progress_work(&run->progress, NULL);
	}
	return status ? status : diff_check(run);
}

/* All there is is there at once. */
static int receive(struct run *run)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	run->finished = true;
	run->failure = read_all(run);
	if (run->failure)
		return run->failure;
	pmp_profile_info(run->profile, &info);
	run->snapshots = info.samples;
	run->sampling.done.elapsed = info.last_time - info.first_time;
	run->sink->targets(run, NULL);
	return 0;
}

/* ---- nothing is sampled ----------------------------------------------------------- */

static void tend(struct run *run, bool idle)
{
	(void)run;
	(void)idle;
}

static void pause_files(struct run *run, bool paused)
{
	(void)run;
	(void)paused;
}

static bool is_detached(const struct run *run)
{
	(void)run;
	return true;
}

static void set_interval(struct run *run, uint64_t interval)
{
	(void)run;
	(void)interval;
}

static void nothing(struct run *run)
{
	(void)run;
}

/* ---- what they are called --------------------------------------------------------- */

/* The first one without its folder and extension. */
static bool name_after(const struct run *run, const struct process *process,
		       struct process *name)
{
	const char *base = filename_base(run->options.files[0]);

	(void)process;
	*name = (struct process){ .pid = 0 };
	snprintf(name->name, sizeof(name->name), "%.*s", (int)strcspn(base, "."), base);
	return *name->name;
}

/* "db.pb.gz", "3 files: a.pb.gz, ..." */
static void describe(const struct run *run, char *text, size_t size)
{
	const struct options *options = &run->options;
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

const struct source source_files = {
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
	.finish = nothing,
	.stop = nothing,
	.name_after = name_after,
	.describe = describe,
	.status = sampling_status,
	.close = nothing,
};
