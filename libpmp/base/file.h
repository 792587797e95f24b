/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening files; reading small ones completely (as in /proc), or ranges of descriptors. */
#ifndef PMP_BASE_FILE_H
#define PMP_BASE_FILE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Open a path from an untrusted source for reading. open() alone can start a watchdog,
 * rewind a tape or release the writer of a FIFO: so the path is first opened with O_PATH,
 * which does none of this, and reopened only if it is a regular file that is not made by
 * the kernel, as in /proc and /sys. The first `given` bytes are what our own user has
 * written, the rest is not (path.h). Returns a descriptor (O_CLOEXEC), or a negative errno;
 * -EINVAL: not such a file.
 */
int pmp_file_open_regular(const char *path, size_t given);
/* Reopen the file of an O_PATH descriptor, which is closed, with O_RDONLY or O_RDWR; fails
 * instead of waiting. Returns a descriptor (O_CLOEXEC), or a negative errno. */
int pmp_file_reopen(int fd, int access);
/* Is it an ELF file with code or its debug information? Not a core, which has memory. */
bool pmp_file_is_code(int fd);
/* Does it belong to root, to us or to this user? */
bool pmp_file_is_of(const struct stat *status, uid_t user);
/* Does the path not exist, or is it a regular file of one of these users? For files that a
 * library will open by path. */
bool pmp_file_is_harmless(const char *path, uid_t user);
/* The path of an open file, from /proc. 0 or a negative errno. */
int pmp_file_path(int fd, char *path, size_t size);
/* Read up to size - 1 bytes of path (relative to dirfd) with one read(), and add a NUL:
 * for files of /proc that are returned at once. Returns the length or a negative errno.
 * Opens with O_NONBLOCK | O_NOCTTY | O_CLOEXEC. */
ssize_t pmp_file_read(int dirfd, const char *path, char *buffer, size_t size);
/* Read a whole file, at most limit bytes (-EFBIG beyond). 0 or a negative errno. */
int pmp_file_slurp(int dirfd, const char *path, size_t limit, struct pmp_buf *buf);
/* The same from a descriptor, to its end. */
int pmp_file_drain(int fd, size_t limit, struct pmp_buf *buf);
/* pread length bytes, or to the end; retries EINTR. Returns the bytes read or a negative
 * errno. */
ssize_t pmp_file_pread(int fd, void *data, size_t length, uint64_t offset);
/* pread exactly length bytes. False: the file ends before that, or cannot be read. */
bool pmp_file_read_at(int fd, uint64_t offset, void *data, size_t length);

#endif
