/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a recorder's memory in a process whose pmp is gone, by its name in /proc. */
#include "heap/shared.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAPS_MOST ((size_t)64 << 20)
#define MEMORY "/memfd:pmp-heap (deleted)"

static bool is_named(int folder, const char *name)
{
	char link[sizeof(MEMORY)];
	ssize_t n = readlinkat(folder, name, link, sizeof(link));

	return n == (ssize_t)sizeof(MEMORY) - 1 && memcmp(link, MEMORY, (size_t)n) == 0;
}

static bool look(int fd, struct statx *file)
{
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;

	return statx(fd, "", flags, STATX_TYPE | STATX_NLINK, file) == 0;
}

/* Such names can be faked in a mount namespace, and may refer to another file by the time
 * that it is opened. So check the file itself, before opening it for more than its path, and
 * ask no file server: it has to be where memory of our own is. */
static bool is_memory(int found)
{
	int memory = memfd_create("pmp", MFD_CLOEXEC);
	struct statx file, ours;
	const bool is = memory >= 0 && look(memory, &ours) && look(found, &file) &&
			file.stx_dev_major == ours.stx_dev_major &&
			file.stx_dev_minor == ours.stx_dev_minor &&
			S_ISREG(file.stx_mode) && file.stx_nlink == 0;

	if (memory >= 0)
		close(memory);
	return is;
}

static int open_if_meant(int folder, const char *name)
{
	int found =
		is_named(folder, name) ? openat(folder, name, O_PATH | O_CLOEXEC) : -1;

	if (found >= 0 && (PMP_FAULT("believe-links") || is_memory(found)))
		return pmp_file_reopen(found, O_RDWR);
	if (found >= 0)
		close(found);
	return -1;
}

/* which: "fd", or "map_files" for a process that has closed the descriptor. */
static int find_in(pid_t pid, const char *which)
{
	const struct dirent *entry;
	char path[64];
	int fd = -1;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, which);
	folder = opendir(path);
	if (!folder)
		return -1;
	while (fd < 0 && (entry = readdir(folder)))
		fd = open_if_meant(dirfd(folder), entry->d_name);
	closedir(folder);
	return fd;
}

bool pmp_heap_shared_is_mapped(pid_t pid)
{
	struct pmp_buf maps = { 0 };
	char path[64];
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	/* The maps of a process that has ended are empty. */
	found = pmp_file_slurp(AT_FDCWD, path, MAPS_MOST, &maps) < 0 || !maps.length ||
		memmem(maps.data, maps.length, MEMORY, strlen(MEMORY)) != NULL;
	pmp_buf_free(&maps);
	return found;
}

int pmp_heap_shared_find(pid_t pid)
{
	int fd, of_fd;

	errno = 0;
	fd = find_in(pid, "fd");
	of_fd = errno;
	if (fd >= 0)
		return fd;
	fd = find_in(pid, "map_files");
	errno = of_fd;
	return fd;
}
