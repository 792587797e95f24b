/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/stat: the name may contain anything, also what ends it. */
#include "lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proc/process.h"

#define REST " S 40 17 17 0 -1 4194304 136 0 0 0 1 2 0 0 20 0 1 0 121259 2990080 429 1\n"

static bool parse(const char *text, size_t length, struct pmp_stat *stat)
{
	char *copy = malloc(length ? length : 1); /* no byte more: the sanitizer sees */
	bool understood;

	memcpy(copy, text, length);
	understood = pmp_stat_parse(copy, length, stat);
	free(copy);
	return understood;
}

static void test_names(void)
{
	static const struct {
		const char *in, *name;
	} names[] = {
		{ "cat", "cat" },
		{ "", "" },
		{ "a b", "a b" },
		{ "a) S 1 (b", "a) S 1 (b" },
		{ ")", ")" },
		{ "))) R 1", "))) R 1" },
		{ "(", "(" },
		{ "new\nline", "new\nline" },
		{ "\033]0;x\a", "\033]0;x\a" },
		{ "\xff\xfe", "\xff\xfe" },
		{ "kworker/u8:3-a_very_long_work_queue_name",
		  "kworker/u8:3-a_very_long_work_q" },
	};
	struct pmp_stat stat;
	char text[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int length = snprintf(text, sizeof(text), "4100 (%s)" REST, names[i].in);

		ok(parse(text, (size_t)length, &stat), "name %zu is understood", i);
		is_str(stat.name, names[i].name, "its name");
		ok(stat.pid == 4100 && stat.state == 'S' && stat.ppid == 40 &&
			   stat.flags == 4194304 && stat.threads == 1 &&
			   stat.start_time == 121259,
		   "its numbers");
	}
}

static void test_cut(void)
{
	static const char whole[] = "4100 (a b)" REST;
	const char *start = strstr(whole, "121259");
	struct pmp_stat stat;
	size_t wrong = 0;

	for (size_t length = 0; length <= (size_t)(start - whole); length++)
		wrong += parse(whole, length, &stat);
	is_int(wrong, 0, "no text that ends before the start time is understood");
	ok(!parse("4100 a)" REST, strlen("4100 a)" REST), &stat),
	   "no opening parenthesis");
	ok(!parse("-1 (a)" REST, strlen("-1 (a)" REST), &stat), "a negative pid");
	ok(!parse("99999999999 (a)" REST, strlen("99999999999 (a)" REST), &stat),
	   "a huge pid");
	ok(!parse(")(" REST, strlen(")(" REST), &stat),
	   "parentheses the wrong way round");
}

static void test_own(void)
{
	static const char name[] = "a) R 1\n\033[m";
	struct pmp_stat stat;

	prctl(PR_SET_NAME, name);
	is_int(pmp_stat_read(AT_FDCWD, "/proc/self/stat", &stat), 0, "our own is read");
	is_str(stat.name, name, "our name, however strange");
	is_int(stat.pid, getpid(), "our pid");
	is_int(stat.ppid, getppid(), "our parent");
	is_int(stat.state, 'R', "we run");
	ok(stat.start_time > 0, "we began");
	is_int(pmp_stat_read(AT_FDCWD, "/proc/self/none", &stat), -ENOENT,
	       "no such file");
	is_int(pmp_stat_read(AT_FDCWD, "/proc/self/status", &stat), -EPROTO,
	       "another file");
}

/* What the kernel shows of a task that is released meanwhile: no number. */
static void test_released(void)
{
	static const char text[] = "4100 (demo) Z 0 -1 -1 0 -1 4228108 0 0\n";
	struct pmp_stat of_none;
	char path[64];
	int fd = memfd_create("released", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ok(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "a file for it");
	is_int(pmp_stat_read(AT_FDCWD, path, &of_none), -ESRCH,
	       "one that is released meanwhile has ended");
	close(fd);
}

int main(void)
{
	test_names();
	test_cut();
	test_own();
	test_released();
	return done_testing();
}
