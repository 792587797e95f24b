/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading saved profiles. There is no sampler then, and no process. */
#include "saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diff.h"
#include "message.h"

#define SHOWN_MAX 128 /* of a name, in a hint */

static int cannot_open(const char *path, const char *hint, int number)
{
	char shown[512];

	/* What is there was meant as a file. */
	pmp_message_print(number == ENOENT ? hint : NULL, "cannot open %s: %s",
			  pmp_escape(path, shown, sizeof(shown)), strerror(number));
	return PMP_EXIT_USAGE;
}

static bool is_program(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_mode & S_IXUSR);
}

int pmp_saved_read_one(struct pmp_profile *profile, const char *path, const char *hint)
{
	struct pmp_error err = { 0 };
	int fd = STDIN_FILENO, code;

	if (strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return cannot_open(path, hint, errno);
	code = pmp_profile_read(profile, fd, path, &err);
	if (code == PMP_EFORMAT && fd != STDIN_FILENO && is_program(fd))
		snprintf(err.hint, sizeof(err.hint), "to profile a program from its start: "
			 "pmp -- %.*s", SHOWN_MAX, path);
	if (fd != STDIN_FILENO)
		close(fd);
	if (code == 0)
		return 0;
	pmp_message_error(&err);
	return code == PMP_ENOMEM ? PMP_EXIT_FAILED : PMP_EXIT_USAGE;
}

int pmp_saved_read(struct pmp_app *app)
{
	static const char hint[] =
		"to profile a process: pmp -p PID; a command: pmp -- COMMAND";
	char work[256];
	int status = 0;

	for (size_t i = 0; i < app->options.file_count && !status; i++) {
		snprintf(work, sizeof(work), "reading %s", app->options.files[i]);
		pmp_progress_work(&app->progress, work);
		status = pmp_saved_read_one(app->profile, app->options.files[i], hint);
		pmp_progress_work(&app->progress, NULL);
	}
	return status ? status : pmp_diff_check(app);
}

void pmp_saved_name(const struct pmp_app *app, char *name, size_t size)
{
	const char *path = app->options.files[0], *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	snprintf(name, size, "%.*s", (int)strcspn(base, "."), base);
}
