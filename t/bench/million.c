/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * million [STACKS [DEPTH [FORMAT [FILE]]]]: what it costs to write so many distinct stacks (a
 * million of 30 frames) in each format, to read them again, and to read two such profiles
 * and compare them. Each is done by a process of its own; the memory is all it has, the
 * profile included. With FILE they are only saved there, for pmp FILE.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/saved.h"

#define THREADS 200

static pmp_location locations[SAVED_FUNCTIONS];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* other: half of them are other ones. */
static void make_stacks(struct saved *saved, size_t stacks, size_t depth, uint64_t other)
{
	pmp_location *stack = calloc(depth, sizeof(*stack));
	char thread[32];

	if (!stack)
		abort();
	for (size_t i = 0; i < stacks; i++) {
		const struct pmp_entry entry = {
			.tid = (pid_t)(5000 + i % THREADS),
			.thread = thread,
			.state = i % 7 ? 'S' : 'R',
			.syscall = "futex",
			.wchan = "futex_do_wait",
			.count = 1 + i % 5,
			.cpu = i % 1000,
			.wall = 100000000 + i,
		};

		snprintf(thread, sizeof(thread), "worker-%zu", i % THREADS);
		saved_server_stack(locations,
				   (i + 1) * 0x9e3779b97f4a7c15u ^ (i % 2 ? other : 0),
				   stack, depth);
		saved_count(saved, &entry, stack, depth);
	}
	free(stack);
}

static int count_bytes(void *arg, const void *data, size_t length)
{
	(void)data;
	*(size_t *)arg += length;
	return 0;
}

static int to_file(void *arg, const void *data, size_t length)
{
	return write(*(int *)arg, data, length) == (ssize_t)length ? 0 : -5;
}

static struct saved read_again(int fd)
{
	/* As pmp reads them: without what threads did. */
	const struct pmp_profile_options options = { .size = sizeof(options) };
	struct saved saved = saved_new();

	pmp_profile_free(saved.profile);
	if (pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL) ||
	    pmp_profile_read(saved.profile, fd, "saved", NULL))
		abort();
	return saved;
}

/* Read both and compare them. */
static size_t compare(const struct pmp_format *format, int base_fd, int fd)
{
	size_t length = 0;
	const struct pmp_sink sink = { count_bytes, &length };
	struct saved base = read_again(base_fd), again = read_again(fd);

	if (report_write(again.profile, base.profile, NULL, format, NULL, &sink, NULL))
		abort();
	return length;
}

/* In a child: write the profile, or read it from fd; with base_fd compare two. */
static size_t work(const struct saved *saved, const struct pmp_format *format, int fd,
		   int base_fd)
{
	size_t length = 0;
	const struct pmp_sink sink = { count_bytes, &length };
	struct saved again;

	if (base_fd >= 0)
		return compare(format, base_fd, fd);
	if (format) {
		if (report_write(saved->profile, NULL, NULL, format, NULL, &sink, NULL))
			abort();
		return length;
	}
	again = saved_new();
	if (pmp_profile_read(again.profile, fd, "saved", NULL))
		abort();
	return pmp_profile_entry_count(again.profile);
}

static void measure(const char *name, const struct saved *saved,
		    const struct pmp_format *format, int fd, int base_fd)
{
	struct rusage usage = { 0 };
	double start = now();
	size_t result = 0;
	int fds[2], status;
	pid_t child;

	fflush(stdout);
	if (pipe(fds) || (child = fork()) < 0)
		abort();
	if (child == 0) {
		result = work(saved, format, fd, base_fd);
		_exit(write(fds[1], &result, sizeof(result)) != sizeof(result));
	}
	wait4(child, &status, 0, &usage);
	if (status == 0 && read(fds[0], &result, sizeof(result)) != sizeof(result))
		status = -1;
	close(fds[0]);
	close(fds[1]);
	printf("%-12s %7.2f s %7.2f s cpu %6ld MiB  %zu %s%s\n", name, now() - start,
	       (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
		       (double)usage.ru_stime.tv_sec +
		       (double)usage.ru_stime.tv_usec / 1e6,
	       usage.ru_maxrss / 1024, result, format ? "bytes" : "stacks",
	       status ? "  FAILED" : "");
}

/* Save it in a file of this name, or in one without a name (NULL). */
static int save(const struct saved *saved, const char *name)
{
	int fd = name ? open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
		      : memfd_create("profile", MFD_CLOEXEC);
	const struct pmp_sink file = { to_file, &fd };

	if (report_write(saved->profile, NULL, NULL, pmp_format_find("pprof"), NULL,
			 &file, NULL))
		abort();
	return fd;
}

static void measure_comparisons(size_t stacks, size_t depth, const char *only, int fd)
{
	struct saved base = saved_new(), none;
	int base_fd;

	saved_server(&base, locations);
	make_stacks(&base, stacks, depth, 88172645463325252u);
	base_fd = save(&base, NULL);
	saved_free(&base);
	none = saved_new();
	for (size_t i = 0; i < pmp_format_count(); i++) {
		char name[64];

		snprintf(name, sizeof(name), "diff %s", pmp_format(i)->name);
		if (!pmp_format(i)->compares ||
		    (only && strcmp(only, pmp_format(i)->name)))
			continue;
		lseek(fd, 0, SEEK_SET);
		lseek(base_fd, 0, SEEK_SET);
		measure(name, &none, pmp_format(i), fd, base_fd);
	}
	saved_free(&none);
	close(base_fd);
}

int main(int argc, char **argv)
{
	size_t stacks = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	size_t depth = argc > 2 ? strtoul(argv[2], NULL, 10) : 30;
	const char *only = argc > 3 ? argv[3] : NULL, *name = argc > 4 ? argv[4] : NULL;
	struct saved saved = saved_new(), none = saved_new();
	int fd;

	saved_server(&saved, locations);
	make_stacks(&saved, stacks, depth, 0);
	for (size_t i = 0; i < pmp_format_count(); i++)
		if (!name && (!only || !strcmp(only, pmp_format(i)->name)))
			measure(pmp_format(i)->name, &saved, pmp_format(i), -1, -1);
	fd = save(&saved, name);
	/* What reads it has no other profile. */
	saved_free(&saved);
	lseek(fd, 0, SEEK_SET);
	if (!name)
		measure("read pprof", &none, NULL, fd, -1);
	saved_free(&none);
	if (!name)
		measure_comparisons(stacks, depth, only, fd);
	close(fd);
	return 0;
}
