/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads small files completely (as in /proc), and ranges of descriptors. Never
 * waits for a FIFO or a terminal put in place of a file.
 */
#include "base/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/path.h"

#define CHUNK 4096   /* the least that /proc returns at once */
#define LINK_SIZE 32 /* "/proc/self/fd/N" */

static int open_now(int dirfd, const char *path, int access)
{
	int fd;

	do
		fd = openat(dirfd, path, access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

int pmp_file_reopen(int fd, int access)
{
	char link[LINK_SIZE];
	int opened;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	opened = open_now(AT_FDCWD, link, access);
	close(fd);
	return opened;
}

/* Reading files of the kernel may have side effects, or reveal secrets such as a process's
 * memory. */
static bool is_of_kernel(int fd)
{
	struct statfs system;

	if (fstatfs(fd, &system) < 0)
		return true;
	switch ((unsigned long)system.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case BPF_FS_MAGIC: return true;
	default: return false;
	}
}

int pmp_file_open_regular(const char *path, size_t given)
{
	int found = pmp_path_open(path, given);
	struct stat status;

	if (found >= 0 && PMP_FAULT("open-anything"))
		return pmp_file_reopen(found, O_RDONLY);
	if (found < 0)
		return found;
	if (fstat(found, &status) == 0 && S_ISREG(status.st_mode) && !is_of_kernel(found))
		return pmp_file_reopen(found, O_RDONLY);
	close(found);
	return -EINVAL;
}

bool pmp_file_is_code(int fd)
{
	unsigned char header[EI_NIDENT + 2];
	unsigned type;

	if (pmp_file_pread(fd, header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header, ELFMAG, SELFMAG) != 0)
		return false;
	type = header[EI_DATA] == ELFDATA2MSB
		       ? (unsigned)header[EI_NIDENT] << 8 | header[EI_NIDENT + 1]
		       : (unsigned)header[EI_NIDENT + 1] << 8 | header[EI_NIDENT];
	return type == ET_REL || type == ET_EXEC || type == ET_DYN;
}

bool pmp_file_is_of(const struct stat *status, uid_t user)
{
	return status->st_uid == 0 || status->st_uid == geteuid() ||
	       status->st_uid == user;
}

bool pmp_file_is_harmless(const char *path, uid_t user)
{
	struct stat status;

	return stat(path, &status) != 0 ||
	       (S_ISREG(status.st_mode) && pmp_file_is_of(&status, user));
}

int pmp_file_path(int fd, char *path, size_t size)
{
	char link[LINK_SIZE];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, size);
	if (length < 0)
		return -errno;
	if ((size_t)length >= size)
		return -ENAMETOOLONG;
	path[length] = '\0';
	return 0;
}

static ssize_t read_some(int fd, void *data, size_t length)
{
	ssize_t got;

	do
		got = read(fd, data, length);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

ssize_t pmp_file_read(int dirfd, const char *path, char *buffer, size_t size)
{
	size_t length;
	ssize_t got;
	int fd;

	if (size == 0)
		return -EINVAL;
	buffer[0] = '\0';
	fd = open_now(dirfd, path, O_RDONLY);
	if (fd < 0)
		return fd;
	got = read_some(fd, buffer, size - 1);
	close(fd);
	length = got > 0 ? (size_t)got : 0;
	buffer[length] = '\0';
	return got;
}

int pmp_file_drain(int fd, size_t limit, struct pmp_buf *buf)
{
	ssize_t got = 0;

	pmp_buf_clear(buf);
	do {
		size_t room;

		if (pmp_buf_failed(buf) ||
		    PMP_RESERVE(&buf->data, &buf->capacity, buf->length + CHUNK + 1)) {
			buf->failed = true;
			return -ENOMEM;
		}
		room = buf->capacity - 1 - buf->length;
		got = read_some(fd, buf->data + buf->length, room);
		if (got > 0)
			buf->length += (size_t)got;
		buf->data[buf->length] = '\0';
		if (buf->length > limit)
			return -EFBIG;
	} while (got > 0);
	return (int)got;
}

int pmp_file_slurp(int dirfd, const char *path, size_t limit, struct pmp_buf *buf)
{
	int fd, code;

	pmp_buf_clear(buf);
	fd = open_now(dirfd, path, O_RDONLY);
	if (fd < 0)
		return fd;
	code = pmp_file_drain(fd, limit, buf);
	close(fd);
	return code;
}

ssize_t pmp_file_pread(int fd, void *data, size_t length, uint64_t offset)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = pread(fd, (char *)data + done, length - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && done == 0)
			return -errno;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

bool pmp_file_read_at(int fd, uint64_t offset, void *data, size_t length)
{
	return offset < INT64_MAX &&
	       pmp_file_pread(fd, data, length, offset) == (ssize_t)length;
}
