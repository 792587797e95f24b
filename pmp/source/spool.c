/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See spool.h. */
#include "source/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "confine/await.h"
#include "say/message.h"
#include "source/unpacker.h"

#define PIECE ((size_t)256 << 10)
#define HOLE 4096u			/* unit of zeros that becomes a hole */
#define END_TIME 5000			/* ms for a program to end */
#define SPARED_PART 20			/* keep 1/20 of the file system free, */
#define SPARED_MOST ((uint64_t)1 << 30) /* but at most this */

/* ---- the file ---------------------------------------------------------------------------- */

static const char *spool_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/var/tmp";
}

/* For file systems without O_TMPFILE. */
static int open_and_remove(const char *directory)
{
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/pmp-XXXXXX", directory) >=
	    sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int spool_open(struct pmp_error *err)
{
	const char *directory = spool_directory();
	char shown[256];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = open_and_remove(directory);
	if (fd >= 0)
		return fd;
	message_fill(err, PMP_EIO, errno, "cannot make a temporary file in %s",
		     pmp_escape(directory, shown, sizeof(shown)));
	snprintf(err->hint, sizeof(err->hint), "TMPDIR chooses another directory");
	return PMP_EIO;
}

/* ---- writing with holes --------------------------------------------------------------------- */

static bool is_zero(const char *data, size_t length)
{
	return !*data && memcmp(data, data + 1, length - 1) == 0;
}

/* 0 or an errno. */
static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		data += n;
		length -= (size_t)n;
	}
	return 0;
}

/* 0 or an errno. */
static int write_sparse(int fd, const char *data, size_t length)
{
	int number = 0;

	while (!number && length) {
		size_t piece = length < HOLE ? length : HOLE;

		if (is_zero(data, piece))
			number = lseek(fd, (off_t)piece, SEEK_CUR) < 0 ? errno : 0;
		else
			number = write_all(fd, data, piece);
		data += piece;
		length -= piece;
	}
	return number;
}

/* Set the length, as the file may end in a hole, and rewind. 0 or an errno. */
static int end_file(int fd)
{
	off_t length = lseek(fd, 0, SEEK_CUR);

	if (length < 0 || ftruncate(fd, length) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return errno;
	return 0;
}

/* read() that restarts; returns a negative errno on failure. */
static ssize_t read_some(int fd, char *data, size_t size)
{
	ssize_t n;

	do
		n = read(fd, data, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int cannot_write(struct pmp_error *err, int number, const char *name)
{
	char shown[256];

	message_fill(err, PMP_EIO, number, "cannot copy %s into a temporary file in %s",
		     pmp_escape(name, shown, sizeof(shown)), spool_directory());
	snprintf(err->hint, sizeof(err->hint), "TMPDIR chooses another directory");
	return PMP_EIO;
}

/* A small packed file may have been made to fill the disk when unpacked:
 * leave some space to others. */
static bool leaves_space(int spool)
{
	struct statvfs disk;
	uint64_t least;

	if (fstatvfs(spool, &disk) < 0)
		return true;
	least = (uint64_t)disk.f_blocks * disk.f_frsize / SPARED_PART;
	if (least > SPARED_MOST)
		least = SPARED_MOST;
	return (uint64_t)disk.f_bavail * disk.f_frsize >= least;
}

/* Copy about limit bytes from a descriptor. 0, or an errno of writing; *problem: 0, or a
 * negative errno of reading. */
static int copy_rest(int spool, int from, uint64_t limit, char *data, ssize_t *problem)
{
	uint64_t copied = 0;
	int number = 0;

	*problem = 0;
	while (!number && copied < limit) {
		ssize_t n = read_some(from, data, PIECE);

		if (n <= 0) {
			*problem = n;
			break;
		}
		number = leaves_space(spool) ? write_sparse(spool, data, (size_t)n)
					     : ENOSPC;
		copied += (uint64_t)n;
	}
	return number;
}

int spool_copy(int spool, const struct spool_input *input, uint64_t limit,
	       struct pmp_error *err)
{
	char *data = malloc(PIECE), shown[256];
	ssize_t problem = 0;
	int number;

	if (!data)
		return message_fill(err, PMP_ENOMEM, 0, "not enough memory");
	number = write_sparse(spool, input->before, input->length);
	if (!number && input->length < limit)
		number = copy_rest(spool, input->fd, limit - input->length, data,
				   &problem);
	free(data);
	if (problem)
		return message_fill(err, PMP_EIO, (int)-problem, "cannot read %s",
				    pmp_escape(input->name, shown, sizeof(shown)));
	if (!number)
		number = end_file(spool);
	return number ? cannot_write(err, number, input->name) : 0;
}

/* ---- another program ------------------------------------------------------------------------ */

static int cannot_start(struct pmp_error *err, int number, const char *program,
			const char *name)
{
	char shown[256];

	message_fill(err, PMP_EINVAL, number, "cannot unpack %s: %s",
		     pmp_escape(name, shown, sizeof(shown)), program);
	snprintf(err->hint, sizeof(err->hint),
		 "install the program %s, or give pmp the file unpacked", program);
	return PMP_EINVAL;
}

int spool_unpack(int spool, struct spool_packed *packed, int *status,
		 struct pmp_error *err)
{
	struct spool_input unpacked = { .before = "", .name = packed->name };
	struct unpacker unpacker;
	int number, code;

	number = unpacker_start(&unpacker, packed->program, packed->fd,
				packed->with_rights);
	packed->missing = unpacker.missing;
	if (number)
		return cannot_start(err, number, packed->program, packed->name);
	unpacked.fd = unpacker.output;
	code = spool_copy(spool, &unpacked, UINT64_MAX, err);
	close(unpacker.output);
	/* Either all of its output was read, or there is no room for the rest. */
	confine_await(unpacker.pid, END_TIME, status);
	return code;
}
