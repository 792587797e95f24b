/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading whole small files (as in /proc) and ranges of descriptors. Never waits
 * for a FIFO or a terminal that somebody put where a file is expected.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/alloc.h"

#define CHUNK 4096		/* what /proc gives at once at least */

static int open_read(int dirfd, const char *path)
{
	int fd;

	do
		fd = openat(dirfd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
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
	fd = open_read(dirfd, path);
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
	fd = open_read(dirfd, path);
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
