/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FLAGS (O_PATH | O_CLOEXEC)
#define LINKS_MAX 40 /* in a path; the kernel's own limit */

/* ---- without openat2() -------------------------------------------------------------------- */

/* Put the target of a link before what is left of the path. 0 or a negative errno. */
static int follow(int link, char *left)
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	struct statfs system;
	ssize_t length;

	if (fstatfs(link, &system) < 0)
		return -errno;
	if (system.f_type == PROC_SUPER_MAGIC)
		return -ELOOP;
	length = readlinkat(link, "", target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	snprintf(joined, sizeof(joined), "%s%s%s", target, *left ? "/" : "", left);
	if (strlen(joined) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(left, joined, strlen(joined) + 1);
	return 0;
}

/* Open a name; if it is not the last one it should be a directory, of which the kernel mounts
 * what is mounted on demand. */
static int open_step(int at, const char *name, bool last)
{
	const int fd = last ? -1 : openat(at, name, FLAGS | O_NOFOLLOW | O_DIRECTORY);

	return fd >= 0 ? fd : openat(at, name, FLAGS | O_NOFOLLOW);
}

/* Take the first name off a path. False: there is none. */
static bool take_name(char *left, char *name)
{
	const char *start = left + strspn(left, "/");
	const size_t length = strcspn(start, "/");

	if (length > NAME_MAX)
		return false;
	memcpy(name, start, length);
	name[length] = '\0';
	memmove(left, start + length, strlen(start + length) + 1);
	return length > 0;
}

static int open_start(int at, const char *left)
{
	return openat(at, *left == '/' ? "/" : ".", FLAGS | O_DIRECTORY);
}

int pmp_path_walk(int at, const char *path)
{
	char left[PATH_MAX], name[NAME_MAX + 1];
	int here, next, number = 0;
	struct stat status;

	if (strlen(path) >= sizeof(left))
		return -ENAMETOOLONG;
	if (!*path)
		return -ENOENT;
	memcpy(left, path, strlen(path) + 1);
	here = open_start(at, left);
	for (unsigned links = 0; here >= 0 && !number && take_name(left, name);) {
		next = open_step(here, name, !*left);
		if (next < 0 || fstat(next, &status) < 0) {
			number = -errno;
		} else if (S_ISLNK(status.st_mode)) {
			number = ++links > LINKS_MAX ? -ELOOP : follow(next, left);
			close(next);
			next = number	      ? -1
			       : *left == '/' ? open_start(here, left)
					      : fcntl(here, F_DUPFD_CLOEXEC, 0);
		}
		close(here);
		here = next;
	}
	if (number && here >= 0)
		close(here);
	return number ? number : here < 0 ? -errno : here;
}

/* ---- opening ------------------------------------------------------------------------------ */

static int open_from(int at, const char *path)
{
	const struct open_how how = { .flags = FLAGS, .resolve = RESOLVE_NO_MAGICLINKS };
	const int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));

	/* A sandbox that does not know the call returns EPERM. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return pmp_path_walk(at, path);
	return fd < 0 ? -errno : fd;
}

int pmp_path_open(const char *path, size_t given)
{
	const char *left = path + given;
	char *start;
	int at, fd;

	if (!given)
		return open_from(AT_FDCWD, path);
	start = strndup(path, given);
	if (!start)
		return -ENOMEM;
	left += strspn(left, "/");
	at = open(start, FLAGS | (*left ? O_DIRECTORY : 0));
	fd = at < 0 ? -errno : at;
	free(start);
	if (at < 0 || !*left)
		return fd;
	fd = open_from(at, left);
	close(at);
	return fd;
}
