/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded: the time of day is what TEST_CLOCK says (seconds since 1970), also
 * that of files when they are synced. Other clocks are left alone. Syncing takes
 * TEST_FSYNC microseconds, and with "hang" does not end: only SIGKILL helps. With TEST_DISK
 * the file system lacks what some lack: nameless files, and for "links" renames that do
 * not replace, for "names" links as well. While the file TEST_QUOTA is there a quota is
 * used up: regular files take nothing ("write" is in it), or say so when they are synced.
 * With TEST_LOG=hang what is appended to cannot even be opened, which likewise does not
 * end. While the file TEST_SLEPT is there the machine has been suspended for 8 hours: the time
 * of day and CLOCK_BOOTTIME are later by these. With "all" in it the other clocks are as
 * well, as where a virtual machine was halted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static time_t clock_now(void)
{
	const char *text = getenv("TEST_CLOCK");
	struct timespec now;

	if (text)
		return strtoll(text, NULL, 10);
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

time_t time(time_t *result)
{
	time_t now = clock_now();

	if (result)
		*result = now;
	return now;
}

#define SLEPT (8 * 3600)

/* Does the file that a variable names begin so? */
static bool file_says(const char *variable, const char *what)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	const char *path = getenv(variable);
	char text[8] = "";
	int fd = path ? real(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && strncmp(text, what, strlen(what)) == 0;
}

static void hang(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
}

ssize_t write(int fd, const void *data, size_t length)
{
	ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	struct stat status;

	if (fd != STDERR_FILENO && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    file_says("TEST_QUOTA", "write")) {
		errno = EDQUOT;
		return -1;
	}
	return real(fd, data, length);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
	int result = real(clock, now);

	if (getenv("TEST_SLEPT") && file_says("TEST_SLEPT", "") &&
	    (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME ||
	     (clock == CLOCK_MONOTONIC && file_says("TEST_SLEPT", "all"))))
		now->tv_sec += SLEPT;
	return result;
}

int fsync(int fd)
{
	const struct timespec now = { .tv_sec = clock_now() };
	const struct timespec both[2] = { now, now };
	const char *how = getenv("TEST_FSYNC");
	struct timespec rest;

	if (how && strcmp(how, "hang") == 0)
		hang();
	if (how) {
		rest.tv_sec = atol(how) / 1000000;
		rest.tv_nsec = atol(how) % 1000000 * 1000;
		nanosleep(&rest, NULL);
	}
	if (file_says("TEST_QUOTA", "sync")) {
		errno = EDQUOT;
		return -1;
	}
	futimens(fd, both);
	return 0;
}

static bool disk_is(const char *what)
{
	const char *disk = getenv("TEST_DISK");

	return disk && (!what || strcmp(disk, what) == 0);
}

static int open_at(const char *symbol, int directory, const char *path, int flags,
		   mode_t mode)
{
	int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, symbol);
	const char *how = getenv("TEST_LOG"); /* hang: that of a log does not return */

	if (disk_is(NULL) && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (how && strcmp(how, "hang") == 0 && (flags & O_APPEND))
		hang();
	return real(directory, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return open_at("openat", directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return open_at("openat64", directory, path, flags, mode);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	int (*real)(int, const char *, int, const char *, unsigned) =
		dlsym(RTLD_NEXT, "renameat2");

	if ((disk_is("links") || disk_is("names")) && (flags & RENAME_NOREPLACE)) {
		errno = EINVAL;
		return -1;
	}
	return real(from, old, to, new, flags);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	int (*real)(int, const char *, int, const char *, int) =
		dlsym(RTLD_NEXT, "linkat");

	if (disk_is("names")) {
		errno = EPERM;
		return -1;
	}
	return real(from, old, to, new, flags);
}
