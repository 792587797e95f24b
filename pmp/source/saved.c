/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See saved.h. */
#include "source/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say/message.h"
#include "say/progress.h"
#include "source/source.h"

#define SHOWN_MAX 128 /* of a name, in a hint */

/* What the worker does. */
struct saved_file {
	struct pmp_profile *profile;
	const char *path, *hint;
	int code;
	struct pmp_error err;
};

static int cannot_open(struct saved_file *reading, int number)
{
	char shown[512];
	int code = message_fill(&reading->err, PMP_EINVAL, number, "cannot open %s",
				pmp_escape(reading->path, shown, sizeof(shown)));

	/* What is there was meant as a file. */
	if (number == ENOENT && reading->hint)
		snprintf(reading->err.hint, sizeof(reading->err.hint), "%s",
			 reading->hint);
	return code;
}

static bool is_program(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_mode & S_IXUSR);
}

static void read_file(void *arg)
{
	struct saved_file *reading = arg;
	struct pmp_error *err = &reading->err;
	const char *path = reading->path;
	int fd = STDIN_FILENO;

	if (strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		reading->code = cannot_open(reading, errno);
		return;
	}
	reading->code = pmp_profile_read(reading->profile, fd, path, err);
	if (reading->code == PMP_EFORMAT && fd != STDIN_FILENO && is_program(fd))
		snprintf(err->hint, sizeof(err->hint),
			 "to profile a program from its start: "
			 "pmp -- %.*s",
			 SHOWN_MAX, path);
	if (fd != STDIN_FILENO)
		close(fd);
}

int saved_read(struct source *source, struct pmp_profile *profile, const char *path,
	       const char *hint)
{
	struct saved_file reading = { .profile = profile, .path = path, .hint = hint };
	char work[256];

	snprintf(work, sizeof(work), "reading %s", path);
	progress_work(source->progress, work);
	source->calls->read(source->run, read_file, &reading, path);
	progress_work(source->progress, NULL);
	if (reading.code == 0)
		return 0;
	message_error(&reading.err);
	return reading.code == PMP_ENOMEM ? PMP_EXIT_FAILED : PMP_EXIT_USAGE;
}
