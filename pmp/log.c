/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the log file, whole or not at all. */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 4096 /* PIPE_BUF; messages are shorter */
#define LOG_MODE 0600

/* May anybody put a name where this file is? */
static bool is_shared(const char *path)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX] = ".";
	struct stat status;

	if (slash)
		snprintf(directory, sizeof(directory), "%.*s",
			 slash == path ? 1 : (int)(slash - path), path);
	return stat(directory, &status) == 0 && (status.st_mode & S_IWOTH);
}

static int check(int fd, bool shared)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return errno;
	if (S_ISREG(status.st_mode))
		return shared && (status.st_uid != geteuid() || status.st_nlink != 1)
			       ? EPERM
			       : 0;
	return S_ISCHR(status.st_mode) && !shared ? 0 : EINVAL;
}

static size_t format_line(char line[LINE_SIZE], const char *text)
{
	time_t now = time(NULL);
	struct tm local = { 0 };
	size_t length;
	int n;

	localtime_r(&now, &local);
	length = strftime(line, LINE_SIZE, "%Y-%m-%dT%H:%M:%S%z", &local);
	n = snprintf(line + length, LINE_SIZE - length, " pmp[%d]: %s\n", (int)getpid(),
		     text);
	if (n > 0 && (size_t)n < LINE_SIZE - length)
		return length + (size_t)n;
	line[LINE_SIZE - 2] = '\n';
	return LINE_SIZE - 1;
}

int pmp_log_append(const char *path, const char *text)
{
	bool shared = is_shared(path);
	char line[LINE_SIZE];
	size_t length;
	int fd, number;

	fd = open(path,
		  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
			  (shared ? O_NOFOLLOW : 0),
		  LOG_MODE);
	if (fd < 0)
		return errno;
	number = check(fd, shared);
	if (!number && text) {
		ssize_t n;

		length = format_line(line, text);
		n = write(fd, line, length);
		if (n < 0)
			number = errno;
		else if ((size_t)n < length)
			number = ENOSPC;
	}
	close(fd);
	return number;
}
