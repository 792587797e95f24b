/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which of our files in a directory to remove. Without locks: several runs may
 * write and remove files in one directory, and the later ones find less to do.
 *
 * Files are ordered by modification time, never by name: at the end of daylight saving time
 * local time repeats an hour. A file that is later than the one just written was written
 * before the clock was set back, and counts as older than all others.
 */
#include "sink/rotate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"

#define RANDOM_DIGITS 16
#define STALE_TIME (24 * 60 * 60) /* no rename takes a day */
#define LATER_TIME 60		  /* due to another run, not to a clock set back */

struct old_file {
	char *name;
	struct timespec time;
	bool later;
};

struct old_files {
	struct old_file *list;
	size_t count, capacity;
};

static DIR *open_again(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static bool belongs_to_us(int directory, const char *name, struct stat *status)
{
	return fstatat(directory, name, status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       status->st_uid == geteuid();
}

/* Is it a regular file of ours, whatever its name? */
static bool is_ours(int directory, const char *name, struct stat *status)
{
	return belongs_to_us(directory, name, status) && S_ISREG(status->st_mode);
}

/* Ignores files of other users: in a shared directory one could use up the numbers. */
uint64_t keep_counter(int directory, const struct filename *filename)
{
	DIR *dir = open_again(directory);
	struct filename_found found;
	struct dirent *entry;
	struct stat status;
	uint64_t highest = 0;

	while (dir && (entry = readdir(dir))) {
		if (filename_match(filename, entry->d_name, &found) &&
		    found.counter > highest &&
		    belongs_to_us(directory, entry->d_name, &status))
			highest = found.counter;
	}
	if (dir)
		closedir(dir);
	return highest;
}

static int add(struct old_files *files, const char *name, const struct stat *status)
{
	struct old_file *list = files->list;
	char *copy = strdup(name);

	if (copy && files->count == files->capacity) {
		files->capacity = files->capacity ? 2 * files->capacity : 64;
		list = reallocarray(list, files->capacity, sizeof(*list));
	}
	if (!copy || !list) {
		free(copy);
		return ENOMEM;
	}
	files->list = list;
	list[files->count++] = (struct old_file){ copy, status->st_mtim, false };
	return 0;
}

static void free_files(struct old_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].name);
	free(files->list);
}

/* Collect all files that match, except own. */
static int collect(int directory, const struct filename *filename, const char *own,
		   struct old_files *files)
{
	DIR *dir = open_again(directory);
	struct filename_found found;
	struct dirent *entry;
	struct stat status;
	int number = 0;

	if (!dir)
		return errno;
	while (!number && (entry = readdir(dir))) {
		if (filename_match(filename, entry->d_name, &found) &&
		    strcmp(entry->d_name, own) != 0 &&
		    is_ours(directory, entry->d_name, &status))
			number = add(files, entry->d_name, &status);
	}
	closedir(dir);
	return number;
}

/* Oldest first; for equal times by name, so that all runs agree. */
static int compare(const void *a, const void *b)
{
	const struct old_file *left = a, *right = b;

	if (left->later != right->later)
		return left->later ? -1 : 1;
	if (PMP_FAULT("rotate-newest"))
		return -strcmp(left->name, right->name);
	if (left->time.tv_sec != right->time.tv_sec)
		return left->time.tv_sec < right->time.tv_sec ? -1 : 1;
	if (left->time.tv_nsec != right->time.tv_nsec)
		return left->time.tv_nsec < right->time.tv_nsec ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void sort(int directory, const char *own, struct old_files *files)
{
	struct stat status;

	if (fstatat(directory, own, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		for (size_t i = 0; i < files->count; i++)
			files->list[i].later = files->list[i].time.tv_sec >
					       status.st_mtim.tv_sec + LATER_TIME;
	}
	if (files->count)
		qsort(files->list, files->count, sizeof(*files->list), compare);
}

int rotate_newest(int directory, const struct filename *filename, const char *own,
		  uint64_t keep, char *name)
{
	struct old_files files = { 0 };
	int number = collect(directory, filename, own, &files);

	name[0] = '\0';
	if (!number && files.count + 1 > keep) {
		size_t surplus = files.count + 1 - (size_t)keep;

		sort(directory, own, &files);
		for (size_t i = 0; i < surplus; i++) {
			if (unlinkat(directory, files.list[i].name, 0) == 0 ||
			    errno == ENOENT)
				continue;
			number = errno;
			snprintf(name, NAME_MAX + 1, "%s", files.list[i].name);
		}
	}
	free_files(&files);
	return number;
}

/* Another user must not guess the name and create the file first. */
static uint64_t random_bits(void)
{
	struct timespec now = { 0 };
	uint64_t bits;

	if (getrandom(&bits, sizeof(bits), 0) == (ssize_t)sizeof(bits))
		return bits;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
}

void rotate_temporary_name(char *name, size_t size)
{
	snprintf(name, size, ".pmp-%d-%0*llx.tmp", (int)getpid(), RANDOM_DIGITS,
		 (unsigned long long)random_bits());
}

/* The process that made the temporary file of this name; 0: it is not a temporary file. */
static pid_t maker(const char *name)
{
	const struct filename start = { .pattern = ".pmp-%p-", .process = "" };
	struct filename_found found = { 0 };
	const char *bits = strrchr(name, '-');
	char text[32];

	if (!bits || strspn(bits + 1, "0123456789abcdef") != RANDOM_DIGITS ||
	    strcmp(bits + 1 + RANDOM_DIGITS, ".tmp") != 0)
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)(bits + 1 - name), name);
	return filename_match(&start, text, &found) ? found.pid : 0;
}

void rotate_remove_stale(int directory)
{
	DIR *dir = open_again(directory);
	struct dirent *entry;
	struct stat status;
	time_t now = time(NULL);

	while (dir && (entry = readdir(dir))) {
		pid_t pid = maker(entry->d_name);

		if (pid && is_ours(directory, entry->d_name, &status) &&
		    status.st_mtim.tv_sec < now - STALE_TIME && kill(pid, 0) < 0 &&
		    errno == ESRCH)
			unlinkat(directory, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}
