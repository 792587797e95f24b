/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See directory.h. */
#include "sink/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fault.h"

struct walk {
	int at;		     /* the directory reached */
	char rest[PATH_MAX]; /* of the path, still to be entered */
	unsigned links;	     /* followed so far */
};

bool directory_has_acl(int fd)
{
	char path[32];

	/* Not fgetxattr(): fd may have been opened with O_PATH. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

bool directory_is_foreign(int fd)
{
	uid_t self = geteuid();
	struct stat status;

	if (fstat(fd, &status) < 0 || (status.st_uid != 0 && status.st_uid != self) ||
	    status.st_mode & S_IWOTH)
		return true;
	if (!(status.st_mode & S_IWGRP))
		return false;
	if (directory_has_acl(fd))
		return true;
	return status.st_gid != 0 && (self == 0 || status.st_gid != getegid());
}

/* Join first, a slash and second into text. False: they are too long. */
static bool join(char *text, size_t size, const char *first, size_t length,
		 const char *second)
{
	size_t rest = strlen(second);

	if (length + 1 + rest >= size)
		return false;
	memmove(text + length + 1, second, rest + 1);
	memmove(text, first, length);
	text[length] = '/';
	return true;
}

/* Read the target of a link; its length or a negative errno. */
static ssize_t read_link(int at, const char *name, char target[PATH_MAX])
{
	ssize_t length = readlinkat(at, name, target, PATH_MAX - 1);

	if (length < 0)
		return -errno;
	target[length] = '\0';
	return length;
}

static int move_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return -errno;
	close(walk->at);
	walk->at = fd;
	return 0;
}

/* name is not a directory: it may be a link to one. */
static int follow(struct walk *walk, const char *name)
{
	char target[PATH_MAX];
	ssize_t length = read_link(walk->at, name, target);

	if (length < 0)
		return length == -EINVAL ? -ENOTDIR : (int)length;
	if (directory_is_foreign(walk->at) && !PMP_FAULT("follow-links"))
		return -ELOOP;
	if (++walk->links > DIRECTORY_LINKS)
		return -EMLINK;
	if (!join(walk->rest, sizeof(walk->rest), target, (size_t)length, walk->rest))
		return -ENAMETOOLONG;
	if (target[0] != '/')
		return 0;
	return move_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int enter(struct walk *walk, const char *name)
{
	int fd = openat(walk->at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return follow(walk, name);
	return move_to(walk, fd);
}

/* Remove the first component from the rest; false: there is none. */
static bool next_name(struct walk *walk, char name[NAME_MAX + 1], int *error)
{
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");

	if (!*start)
		return false;
	if (length > NAME_MAX) {
		*error = -ENAMETOOLONG;
		return false;
	}
	memcpy(name, start, length);
	name[length] = '\0';
	memmove(walk->rest, start + length, strlen(start + length) + 1);
	return true;
}

static int open_reached(const struct walk *walk, bool *foreign)
{
	int fd = openat(walk->at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*foreign = directory_is_foreign(fd);
	return fd;
}

bool directory_is_descriptor(const char *path)
{
	return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/dev/std", 8) == 0;
}

int directory_open(const char *path, bool *foreign)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	char name[NAME_MAX + 1];
	struct walk walk = { 0 };
	int result = 0;

	if (length >= sizeof(walk.rest))
		return -ENAMETOOLONG;
	memcpy(walk.rest, path, length);
	walk.at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (walk.at < 0)
		return -errno;
	while (!result && next_name(&walk, name, &result))
		result = enter(&walk, name);
	if (!result)
		result = open_reached(&walk, foreign);
	close(walk.at);
	return result;
}

int directory_follow(int directory, const char *base, char *path)
{
	char target[PATH_MAX];
	ssize_t length = read_link(directory, base, target);

	if (length < 0)
		return length == -EINVAL || length == -ENOENT ? 0 : (int)length;
	if (target[0] == '/' || base == path) {
		memcpy(path, target, (size_t)length + 1);
		return 1;
	}
	length = base - path - 1;
	return join(path, PATH_MAX, path, (size_t)length, target) ? 1 : -ENAMETOOLONG;
}
