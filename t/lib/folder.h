/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A temporary directory for tests in C, removed with all its files. */
#ifndef PMP_T_FOLDER_H
#define PMP_T_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
	char path[PATH_MAX];
};

static inline bool folder_make(struct folder *folder)
{
	const char *base = getenv("TMPDIR");
	char real[PATH_MAX];

	snprintf(folder->path, sizeof(folder->path), "%s/pmp-test.XXXXXX",
		 base && *base ? base : "/tmp");
	/* /proc/PID/maps shows real paths. */
	if (!mkdtemp(folder->path) || !realpath(folder->path, real))
		return false;
	memcpy(folder->path, real, sizeof(real));
	return chmod(folder->path, 0755) == 0;
}

static inline int folder_remove_one(const char *path, const struct stat *file, int type,
				    struct FTW *ftw)
{
	(void)file;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void folder_remove(const struct folder *folder)
{
	nftw(folder->path, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Set path, of PATH_MAX bytes, to that of name in the directory. */
static inline const char *folder_path(const struct folder *folder, const char *name,
				      char *path)
{
	size_t length = strlen(folder->path);

	memcpy(path, folder->path, length);
	snprintf(path + length, PATH_MAX - length, "/%s", name);
	return path;
}

/* Write a file of 8 KiB whose bytes depend on seed. */
static inline bool file_write(const char *path, unsigned seed)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	unsigned char data[8192];
	bool good;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(seed + i * 31 + i / 256);
	good = fd >= 0 && write(fd, data, sizeof(data)) == sizeof(data);
	if (fd >= 0)
		close(fd);
	return good;
}

#endif
