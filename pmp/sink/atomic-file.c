/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes files so that a good old one survives any failure: the data goes to an unnamed
 * file in the same directory (a named one if the file system has no O_TMPFILE), which is
 * synced and then renamed.
 *
 * All of this may block, and runs in the worker. Another thread can see what it waits for.
 */
#include "sink/atomic-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "sink/directory.h"
#include "run/clock.h"
#include "say/message.h"
#include "options/filename.h"
#include "sink/rotate.h"

#define BUFFER_SIZE 65536
#define STREAM_CHUNK 4096 /* PIPE_BUF */
#define NAME_TRIES 1000
#define TEMPORARY_TRIES 4 /* with 64 random bits each */
#define FILE_MODE 0600
#define PROCESS_SIZE 128

struct atomic_file {
	char path[PATH_MAX];	  /* as shown; or "standard output" */
	const char *base;	  /* last component of path */
	struct filename filename; /* path is made from it */
	char process[PROCESS_SIZE];
	bool unique;	    /* has a time or counter: never replaces a file */
	bool published;	    /* path is ours already */
	int directory;	    /* of path; -1: a stream */
	bool foreign;	    /* others may create files in it */
	int fd;		    /* -1: none open now */
	bool stream;	    /* written in place: standard output, device, pipe */
	bool owned;	    /* close fd */
	char temporary[64]; /* name in directory; empty: unnamed */
	int error;	    /* the first one, negative */
	struct atomic_file_wait *wait; /* or NULL */
	size_t length;		       /* in buffer */
	char buffer[BUFFER_SIZE];
};

static const char *advice(int number)
{
	switch (number) {
	case ENOSPC:
	case EDQUOT: return "free some space, or use another directory with -o";
	case EFBIG: return "raise the limit on file sizes (ulimit -f)";
	case EACCES:
	case EPERM:
	case EROFS: return "choose a directory you may write to with -o";
	case ENOENT:
	case ENOTDIR: return "make its directory first";
	default: return "";
	}
}

static int link_refused(struct pmp_error *err, const char *path)
{
	message_fill(err, PMP_EIO, 0,
		     "cannot write %s: a symbolic link leads there, in a directory that "
		     "others may write to",
		     path);
	snprintf(err->hint, sizeof(err->hint),
		 "name the file without the link, or choose another directory with -o");
	return err->code;
}

static int cannot_write(struct pmp_error *err, const char *path, int number)
{
	if (number == ELOOP)
		return link_refused(err, path);
	message_fill(err, PMP_EIO, number, "cannot write %s", path);
	snprintf(err->hint, sizeof(err->hint), "%s", advice(number));
	return err->code;
}

/* Choose the next name after one that is taken; 0 or an errno. */
static int next_path(struct atomic_file *output)
{
	struct filename *filename = &output->filename;
	int number;

	if (!filename_has(filename_base(filename->pattern), 'c'))
		filename->again++;
	else if (filename->counter++ >= PMP_FILENAME_COUNTER_MAX)
		return EOVERFLOW;
	if (filename->again >= NAME_TRIES)
		return EEXIST;
	number = filename_expand(filename, output->path, sizeof(output->path));
	output->base = filename_base(output->path);
	return number;
}

/* Choose the first free name in an open directory; also after another run has taken the
 * one chosen before. */
static int choose_path(struct atomic_file *output)
{
	struct stat status;
	int number = 0;

	if (!output->unique)
		return 0;
	if (output->filename.counter == 0 &&
	    filename_has(output->filename.pattern, 'c')) {
		output->filename.counter =
			keep_counter(output->directory, &output->filename);
		number = next_path(output);
	}
	while (!number && fstatat(output->directory, output->base, &status,
				  AT_SYMLINK_NOFOLLOW) == 0)
		number = next_path(output);
	return number;
}

/* Create an unnamed file, or a named one where that is not supported. */
static int begin_file(struct atomic_file *output)
{
	output->temporary[0] = '\0';
	if (PMP_FAULT("write-in-place")) {
		output->fd = openat(output->directory, output->base,
				    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
		return output->fd < 0 ? errno : 0;
	}
	output->fd =
		openat(output->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
	if (output->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return errno;
	for (unsigned i = 0; i < TEMPORARY_TRIES; i++) {
		rotate_temporary_name(output->temporary, sizeof(output->temporary));
		output->fd = openat(output->directory, output->temporary,
				    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				    FILE_MODE);
		if (output->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	output->temporary[0] = '\0';
	return errno;
}

/* Give an unnamed file a temporary name, for rename(). */
static int name_file(struct atomic_file *output)
{
	char self[32];

	if (output->temporary[0])
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", output->fd);
	for (unsigned i = 0; i < TEMPORARY_TRIES; i++) {
		char name[sizeof(output->temporary)];

		rotate_temporary_name(name, sizeof(name));
		if (linkat(AT_FDCWD, self, output->directory, name, AT_SYMLINK_FOLLOW) ==
		    0) {
			memcpy(output->temporary, name, sizeof(name));
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return errno;
}

static void drop_file(struct atomic_file *output)
{
	if (output->temporary[0])
		unlinkat(output->directory, output->temporary, 0);
	output->temporary[0] = '\0';
	if (output->owned && output->fd >= 0)
		close(output->fd);
	if (!output->stream)
		output->fd = -1;
}

/* In a foreign directory: may our file replace this one? */
static bool is_replaceable(const struct atomic_file *output, const struct stat *file)
{
	struct stat directory;

	return S_ISREG(file->st_mode) &&
	       (file->st_uid == geteuid() || (fstat(output->directory, &directory) == 0 &&
					      file->st_uid == directory.st_uid));
}

/* Decide by what exists at the path how to write. */
static int inspect(struct atomic_file *output, struct pmp_error *err)
{
	const char *path = output->path;
	struct stat status;

	if (fstatat(output->directory, output->base, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : cannot_write(err, path, errno);
	if (S_ISDIR(status.st_mode))
		return cannot_write(err, path, EISDIR);
	if (output->foreign && !is_replaceable(output, &status)) {
		message_fill(err, PMP_EIO, 0,
			     "cannot write %s: it is %s in a directory that "
			     "others may write to",
			     path,
			     S_ISLNK(status.st_mode) ? "a symbolic link"
						     : "not a file of yours");
		snprintf(err->hint, sizeof(err->hint),
			 "remove it, or choose another directory with -o");
		return err->code;
	}
	if (S_ISREG(status.st_mode))
		return 0;
	if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) {
		output->stream = true;
		return 0;
	}
	return message_fill(err, PMP_EIO, 0,
			    "cannot write %s: it is neither a file nor a device", path);
}

/* 0 or a positive errno. */
static int enter_directory(struct atomic_file *output)
{
	output->base = filename_base(output->path);
	if (!*output->base)
		return EISDIR;
	if (output->directory >= 0)
		close(output->directory);
	output->directory = directory_open(output->path, &output->foreign);
	return output->directory < 0 ? -output->directory : 0;
}

static int open_directory(struct atomic_file *output, struct pmp_error *err)
{
	int number = enter_directory(output);

	return number ? cannot_write(err, output->path, number) : 0;
}

/* Follow links outside foreign directories: their target is replaced, not the link. */
static int follow_links(struct atomic_file *output, struct pmp_error *err)
{
	int result = 1;

	for (unsigned i = 0; result > 0 && !output->foreign; i++) {
		result = i < DIRECTORY_LINKS
				 ? directory_follow(output->directory, output->base,
						    output->path)
				 : -EMLINK;
		if (result < 0)
			return cannot_write(err, output->path, -result);
		if (result > 0 && open_directory(output, err) < 0)
			return err->code;
	}
	return 0;
}

/* Devices, pipes and the descriptors under /dev/fd are written in place. */
static int open_stream(struct atomic_file *output, struct pmp_error *err)
{
	const int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;

	output->stream = true;
	output->fd = output->directory < 0 ? open(output->path, flags)
					   : openat(output->directory, output->base,
						    flags | O_NOFOLLOW);
	if (output->fd < 0)
		return cannot_write(err, output->path, errno);
	return 0;
}

static int open_file(struct atomic_file *output, struct pmp_error *err)
{
	const char *pattern = output->filename.pattern;
	int number, code;

	number = filename_expand(&output->filename, output->path, sizeof(output->path));
	if (number)
		return cannot_write(err, pattern, number);
	output->owned = true;
	if (directory_is_descriptor(output->path))
		return open_stream(output, err);
	code = open_directory(output, err);
	if (code < 0)
		return code;
	number = choose_path(output);
	if (number)
		return cannot_write(err, output->path, number);
	code = follow_links(output, err);
	if (code == 0)
		code = inspect(output, err);
	if (code < 0)
		return code;
	if (output->stream)
		return open_stream(output, err);
	number = begin_file(output);
	return number ? cannot_write(err, output->path, number) : 0;
}

static void set_filename(struct atomic_file *output, const char *pattern, pid_t pid,
			 const char *process)
{
	const char *base = filename_base(pattern);

	snprintf(output->process, sizeof(output->process), "%s", process);
	output->filename = (struct filename){
		.pattern = pattern,
		.process = output->process,
		.pid = pid,
		.time = time(NULL),
		.again = 1,
	};
	output->unique = filename_has(base, 't') || filename_has(base, 'c');
}

/* Between begin and end the output may hang. */
static void begin_wait(struct atomic_file *output)
{
	if (!output->wait)
		return;
	output->wait->path = output->path;
	output->wait->stream = output->stream;
	__atomic_store_n(&output->wait->since, now_ns(), __ATOMIC_RELEASE);
}

static void end_wait(struct atomic_file *output)
{
	if (output->wait)
		__atomic_store_n(&output->wait->since, 0, __ATOMIC_RELEASE);
}

static void set_standard(struct atomic_file *output, bool closed)
{
	snprintf(output->path, sizeof(output->path), "standard output");
	output->stream = true;
	output->fd = STDOUT_FILENO;
	output->error = closed ? -EBADF : 0;
}

int atomic_file_open(struct atomic_file **result, const struct atomic_file_target *target,
		     struct pmp_error *err)
{
	struct atomic_file *output = calloc(1, sizeof(*output));
	int code = 0;

	if (!output)
		return message_fill(err, PMP_ENOMEM, 0,
				    "not enough memory for the output");
	output->directory = -1;
	output->fd = -1;
	output->wait = target->wait;
	if (!target->name) {
		set_standard(output, target->closed);
	} else {
		set_filename(output, target->name, target->pid, target->process);
		begin_wait(output);
		code = open_file(output, err);
		end_wait(output);
	}
	if (code < 0)
		atomic_file_free(output);
	else
		*result = output;
	return code;
}

/* Polls on EAGAIN, as others that share the descriptor may have made it non-blocking. */
static ssize_t write_piece(struct atomic_file *output, const char *data, size_t length)
{
	struct pollfd room = { .fd = output->fd, .events = POLLOUT };
	ssize_t n;
	int number;

	begin_wait(output);
	while ((n = write(output->fd, data, length)) < 0 && errno == EAGAIN)
		poll(&room, 1, -1);
	number = errno;
	end_wait(output);
	return n < 0 ? -number : n;
}

/* Write all of data; 0 or a positive errno. */
static int write_all(struct atomic_file *output, const char *data, size_t length)
{
	while (length > 0) {
		size_t piece = length;
		ssize_t n;

		/* In small pieces, to see progress even with a slow reader. */
		if (output->stream && piece > STREAM_CHUNK)
			piece = STREAM_CHUNK;
		n = write_piece(output, data, piece);
		if (n < 0 && n != -EINTR)
			return (int)-n;
		if (n > 0) {
			data += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

int atomic_file_flush(struct atomic_file *output)
{
	int number = 0;

	if (!output->error && output->length > 0) {
		if (output->fd < 0)
			number = begin_file(output);
		if (!number)
			number = write_all(output, output->buffer, output->length);
		output->error = -number;
	}
	output->length = 0;
	return output->error;
}

int atomic_file_write(void *arg, const void *data, size_t length)
{
	struct atomic_file *output = arg;
	const char *at = data;

	while (length > 0 && !output->error) {
		size_t room = sizeof(output->buffer) - output->length;
		size_t piece = length < room ? length : room;

		memcpy(output->buffer + output->length, at, piece);
		output->length += piece;
		at += piece;
		length -= piece;
		if (output->length == sizeof(output->buffer))
			atomic_file_flush(output);
	}
	return output->error;
}

/* Rename a named file without replacing another: not all file systems support each way. */
static int rename_new(struct atomic_file *output)
{
	const int directory = output->directory;
	const char *from = output->temporary, *to = output->base;

	if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (linkat(directory, from, directory, to, 0) == 0)
		return unlinkat(directory, from, 0) < 0 ? errno : 0;
	/* No hard links either: rely on the name still being free. */
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return errno;
	return renameat(directory, from, directory, to) < 0 ? errno : 0;
}

/* Give the file its name unless that exists; 0 or a positive errno. */
static int place_new(struct atomic_file *output)
{
	char self[32];
	int number;

	if (!output->temporary[0]) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", output->fd);
		return linkat(AT_FDCWD, self, output->directory, output->base,
			      AT_SYMLINK_FOLLOW) < 0
			       ? errno
			       : 0;
	}
	number = rename_new(output);
	if (!number)
		output->temporary[0] = '\0';
	return number;
}

/* Replace the existing file; 0 or a positive errno. */
static int replace(struct atomic_file *output)
{
	int number = name_file(output);

	if (number)
		return number;
	if (renameat(output->directory, output->temporary, output->directory,
		     output->base) < 0)
		return errno;
	output->temporary[0] = '\0';
	return 0;
}

static int place(struct atomic_file *output)
{
	int number;

	if (!output->unique || output->published)
		return replace(output);
	while ((number = place_new(output)) == EEXIST) {
		number = next_path(output);
		if (number)
			break;
	}
	return number;
}

/* Make the file durable and visible; 0 or a positive errno. */
static int make_visible(struct atomic_file *output)
{
	int number;

	if (output->fd < 0) { /* an empty profile */
		number = begin_file(output);
		if (number)
			return number;
	}
	/* Some file systems do not support fsync(). */
	if (!PMP_FAULT("no-fsync") && fsync(output->fd) < 0 && errno != EINVAL &&
	    errno != ENOSYS)
		return errno;
	/* During a long run the directory may have been moved away and created again. */
	number = output->temporary[0] ? 0 : enter_directory(output);
	if (!number)
		number = place(output);
	if (number)
		return number;
	output->published = true;
	fsync(output->directory);
	if (!output->unique)
		rotate_remove_stale(output->directory);
	return 0;
}

static int publish(struct atomic_file *output)
{
	int number;

	begin_wait(output);
	number = make_visible(output);
	end_wait(output);
	return number;
}

int atomic_file_commit(struct atomic_file *output)
{
	atomic_file_flush(output);
	if (!output->stream) {
		if (!output->error)
			output->error = -publish(output);
		drop_file(output);
	}
	return output->error;
}

/* Copy the first length bytes of a descriptor; 0 or a positive errno. */
static int copy(int from, int to, off_t length)
{
	for (off_t at = 0; at < length;) {
		ssize_t n = sendfile(to, from, &at, (size_t)(length - at));

		if (n < 0 && errno != EINTR)
			return errno;
		if (n == 0)
			return EIO;
	}
	return 0;
}

int atomic_file_commit_copy(struct atomic_file *output)
{
	char temporary[sizeof(output->temporary)];
	int whole, number;
	struct stat status;

	if (atomic_file_flush(output) < 0 || output->stream || output->fd < 0)
		return output->error;
	whole = output->fd;
	memcpy(temporary, output->temporary, sizeof(temporary));
	output->temporary[0] = '\0';
	output->fd = -1;
	number = fstat(whole, &status) < 0 ? errno : begin_file(output);
	if (!number)
		number = copy(whole, output->fd, status.st_size);
	if (!number)
		number = publish(output);
	drop_file(output);
	output->fd = whole;
	memcpy(output->temporary, temporary, sizeof(temporary));
	output->error = -number;
	return output->error;
}

int atomic_file_keep(struct atomic_file *output, uint64_t keep, struct pmp_error *err)
{
	char name[NAME_MAX + 1];
	int number;

	if (output->stream || !output->published)
		return 0;
	rotate_remove_stale(output->directory);
	number = rotate_newest(output->directory, &output->filename, output->base, keep,
			       name);
	if (!number)
		return 0;
	return message_fill(err, PMP_EIO, number, "cannot remove %s%s%s", name,
			    *name ? ", older than " : "files older than ", output->path);
}

const char *atomic_file_path(const struct atomic_file *output)
{
	return output->path;
}

int atomic_file_error(const struct atomic_file *output)
{
	return output->error;
}

void atomic_file_complain(const struct atomic_file *output)
{
	struct pmp_error err;

	if (output->error == -EPIPE || !output->error)
		return;
	if (output->error == -EBADF)
		message_fill(&err, PMP_EIO, 0, "cannot write %s: it is closed",
			     output->path);
	else
		cannot_write(&err, output->path, -output->error);
	message_error(&err);
}

void atomic_file_free(struct atomic_file *output)
{
	if (!output)
		return;
	drop_file(output);
	if (output->directory >= 0)
		close(output->directory);
	free(output);
}
