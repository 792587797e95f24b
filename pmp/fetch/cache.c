/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cache.h. */
#include "fetch/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "sink/directory.h"

#define FETCH_USER 65533 /* no account has this id; 65534 is used by containers and NFS */
#define OF_ROOT ".pmp"	 /* appended to root's usual one */
#define NO_HOME "/var/cache/debuginfod_client"
#define MODE 0700

/* ---- where it is ---------------------------------------------------------------- */

/* Root must not write to a directory of another user. */
static bool is_ours(const char *folder)
{
	struct stat status;

	return geteuid() != 0 || stat(folder, &status) < 0 || status.st_uid == 0;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value == '/' && is_ours(value) ? value : NULL;
}

static bool make_path(char *path, size_t size, const char *folder, const char *rest)
{
	const int n = snprintf(path, size, "%s%s", folder, rest);

	return n > 0 && (size_t)n < size;
}

/* Find it like the library of debuginfod-find. False: the path is too long. */
static bool find_path(char *path, size_t size)
{
	const char *given = variable("DEBUGINFOD_CACHE_PATH");
	const char *cache = variable("XDG_CACHE_HOME"), *home = variable("HOME");
	struct stat status;

	if (given)
		return make_path(path, size, given, "");
	if (home && make_path(path, size, home, "/.debuginfod_client_cache") &&
	    stat(path, &status) == 0)
		return true;
	if (cache)
		return make_path(path, size, cache, "/debuginfod_client");
	if (home)
		return make_path(path, size, home, "/.cache/debuginfod_client");
	return make_path(path, size, NO_HOME, "");
}

/* ---- creating it ---------------------------------------------------------------- */

/* Open the parent directory of path. Root only accepts one that others cannot write to. */
static int open_parent(const char *path)
{
	bool foreign = false;
	const int fd = directory_open(path, &foreign);

	if (fd < 0 || !foreign || geteuid() != 0)
		return fd;
	close(fd);
	return -EPERM;
}

static int make_one(const char *path)
{
	const int parent = open_parent(path);
	int result = 0;

	if (parent < 0)
		return parent;
	if (mkdirat(parent, strrchr(path, '/') + 1, MODE) < 0 && errno != EEXIST)
		result = -errno;
	close(parent);
	return result;
}

/* Create the directory of an absolute path, and its parent. */
static int make_both(char *path)
{
	char *slash = strrchr(path, '/');

	*slash = '\0';
	if (*path && access(path, F_OK) < 0)
		make_one(path);
	*slash = '/';
	return make_one(path);
}

/* Give it to FETCH_USER. If root may not change owners, debuginfod-find runs as root
 * without capabilities. */
static int give_away(struct fetch_cache *cache)
{
	struct stat status;

	cache->user = geteuid();
	if (cache->user != 0)
		return 0;
	if (fstat(cache->fd, &status) < 0)
		return errno;
	if (status.st_uid != 0 && status.st_uid != FETCH_USER)
		return EPERM;
	if (status.st_uid == FETCH_USER || fchown(cache->fd, FETCH_USER, FETCH_USER) == 0)
		cache->user = FETCH_USER;
	return 0;
}

int cache_open(struct fetch_cache *cache)
{
	int parent, number;

	*cache = (struct fetch_cache){ .fd = -1 };
	if (!find_path(cache->path, sizeof(cache->path) - sizeof(OF_ROOT)))
		return ENAMETOOLONG;
	if (geteuid() == 0)
		memcpy(cache->path + strlen(cache->path), OF_ROOT, sizeof(OF_ROOT));
	number = make_both(cache->path);
	parent = number < 0 ? number : open_parent(cache->path);
	if (parent < 0)
		return -parent;
	cache->fd = openat(parent, strrchr(cache->path, '/') + 1,
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC |
				   (geteuid() == 0 ? O_NOFOLLOW : 0));
	number = cache->fd < 0 ? errno : give_away(cache);
	close(parent);
	if (number)
		cache_close(cache);
	return number;
}

void cache_close(struct fetch_cache *cache)
{
	if (cache->fd >= 0)
		close(cache->fd);
	cache->fd = -1;
}

/* ---- its files -------------------------------------------------------------------- */

/* Open the file of an O_PATH descriptor for reading, if it is a file of that user, who may
 * have taken a lease on it: so fail instead of waiting. */
static int reopen(int found, uid_t user)
{
	struct stat status;
	char link[32];

	if (fstat(found, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != user)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	return open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Enters directories step by step, so that no link is followed. */
int cache_file(const struct fetch_cache *cache, const char *path)
{
	int at = openat(cache->fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next, file;
	char name[NAME_MAX + 1];
	size_t length;

	if (PMP_FAULT("fetch-any-path"))
		return openat(cache->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (at >= 0 && *path) {
		length = strcspn(path, "/");
		if (length > NAME_MAX || (length == 2 && memcmp(path, "..", 2) == 0))
			break;
		memcpy(name, path, length);
		name[length] = '\0';
		path += length + strspn(path + length, "/");
		next = openat(at, length ? name : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
	}
	if (at < 0)
		return -1;
	file = *path ? -1 : reopen(at, cache->user);
	close(at);
	return file;
}
