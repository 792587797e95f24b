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

int saved_read(struct pmp_profile *profile, const char *path, const char *hint)
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
