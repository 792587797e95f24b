/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes lines of the log file, whole or not at all. */
#include "say/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sink/directory.h"
#include "options/filename.h"

#define LINE_SIZE 4096 /* longer than any message */
#define LOG_MODE 0600

/* May we append to this file? 0, an errno or LOG_... */
static int check(int fd, bool foreign)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return errno;
	if (S_ISREG(status.st_mode))
		return foreign && (status.st_uid != geteuid() || status.st_nlink != 1)
			       ? LOG_FOREIGN
			       : 0;
	return S_ISCHR(status.st_mode) && !foreign ? 0 : LOG_NO_FILE;
}

/* Follow links to the file as long as no other user can have made them. Returns the
 * descriptor of its directory, or a negative errno. */
static int open_directory(char path[PATH_MAX], bool *foreign)
{
	for (unsigned i = 0; i <= DIRECTORY_LINKS; i++) {
		int directory = directory_open(path, foreign), result;

		if (directory < 0 || *foreign)
			return directory;
		result = directory_follow(directory, filename_base(path), path);
		if (result == 0)
			return directory;
		close(directory);
		if (result < 0)
			return result;
	}
	return -EMLINK;
}

/* Returns its descriptor, or a negative errno. */
static int open_log(const char *name, bool *foreign)
{
	const int flags =
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	char path[PATH_MAX];
	int directory, fd;

	if (snprintf(path, sizeof(path), "%s", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (directory_is_descriptor(path)) {
		fd = open(path, flags, LOG_MODE);
		return fd < 0 ? -errno : fd;
	}
	directory = open_directory(path, foreign);
	if (directory < 0)
		return directory;
	fd = openat(directory, filename_base(path), flags | O_NOFOLLOW, LOG_MODE);
	if (fd < 0)
		fd = -errno;
	close(directory);
	return fd;
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

static int append(int fd, const char *text)
{
	char line[LINE_SIZE];
	size_t length = format_line(line, text);
	ssize_t n = write(fd, line, length);

	if (n < 0)
		return errno;
	return (size_t)n < length ? ENOSPC : 0;
}

int log_append(const char *path, const char *text)
{
	bool foreign = false;
	int fd = open_log(path, &foreign), number;

	if (fd < 0)
		return fd == -ELOOP ? LOG_LINK : -fd;
	number = check(fd, foreign);
	if (!number && text)
		number = append(fd, text);
	close(fd);
	return number;
}
