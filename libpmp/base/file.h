/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and reading files: whole small ones (as in /proc), ranges of descriptors. */
#ifndef PMP_BASE_FILE_H
#define PMP_BASE_FILE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Open a path that a file names, for reading. open() alone can start a watchdog, rewind
 * a tape or release the writer of a FIFO: so the path is first opened with O_PATH, which
 * does none of this, and that very file is then opened if it is a regular one and none
 * that the kernel makes, as in /proc and /sys. Returns a descriptor (O_CLOEXEC), or a
 * negative errno; -EINVAL: it is no such file.
 */
int pmp_file_open_regular(const char *path);
/* Open what this descriptor (O_PATH) stands for, for O_RDONLY or O_RDWR, and close that; what
 * would make the caller wait is not opened. Returns a descriptor (O_CLOEXEC), or a negative
 * errno. */
int pmp_file_reopen(int fd, int access);
/* Is it an ELF file of code or of what describes code? Not a core, which is memory. */
bool pmp_file_is_code(int fd);
/* Does it belong to root, to ourselves or to this user? */
bool pmp_file_is_of(const struct stat *status, uid_t user);
/* Is nothing there, or a regular file of one of these? For what a library will open by its
 * path. */
bool pmp_file_is_harmless(const char *path, uid_t user);
/* The path of an open file as /proc has it. 0 or a negative errno. */
int pmp_file_path(int fd, char *path, size_t size);
/* Read path (relative to dirfd) up to size - 1 bytes, by one read(), and end them with
 * a NUL: for files that /proc gives at once. Returns the length or a negative errno.
 * O_NONBLOCK | O_NOCTTY | O_CLOEXEC. */
ssize_t pmp_file_read(int dirfd, const char *path, char *buffer, size_t size);
/* The whole file, at most limit bytes (-EFBIG beyond). 0 or a negative errno. */
int pmp_file_slurp(int dirfd, const char *path, size_t limit, struct pmp_buf *buf);
/* The same from a descriptor, to its end. */
int pmp_file_drain(int fd, size_t limit, struct pmp_buf *buf);
/* pread until length bytes or the end; retries EINTR. Bytes read or a negative errno. */
ssize_t pmp_file_pread(int fd, void *data, size_t length, uint64_t offset);
/* The same of all of them. False: the file ends before that, or cannot be read. */
bool pmp_file_read_at(int fd, uint64_t offset, void *data, size_t length);

#endif
