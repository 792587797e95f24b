/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names made of patterns, and --keep: exactly the files that a pattern can have made
 * are counted, the oldest of them go, and nothing else is ever touched.
 */
#include <errno.h>
#include <sys/wait.h>

#include "options/filename.h"
#include "sink/rotate.h"
#include "lib/folder.h"
#include "lib/tap.h"

#define DAY (24 * 60 * 60)
#define NOON 1792324800 /* some noon */

static int directory; /* of the test's folder */

static void test_check(void)
{
	static const char *const right[] = { "", "x", "%p%n%t%c%%", "a/%n/%t.folded" };
	static const char *const wrong[] = { "%", "x%", "%x", "%%%", "%c/x", "a/%c/%t" };

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
		ok(filename_check(right[i]), "'%s' is a pattern", right[i]);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(!filename_check(wrong[i]), "'%s' is none", wrong[i]);
	ok(filename_has("%%t%c", 'c') && !filename_has("%%t%c", 't'), "%%%%t is no time");
	ok(!filename_has("%", 'c'), "nor is a lone %%");
}

static void test_expand(void)
{
	struct filename filename = {
		.pattern = "%n-%p/%t-%n%%.%c",
		.process = "../a b",
		.pid = 42,
		.time = NOON,
		.counter = 7,
	};
	char path[64], small[8];

	is_int(filename_expand(&filename, path, sizeof(path)), 0, "a name");
	is_str(path, "_._a_b-42/20261018-120000-_._a_b%.7", "with all conversions");
	filename.again = 3;
	filename_expand(&filename, path, sizeof(path));
	is_str(path, "_._a_b-42/20261018-120000_3-_._a_b%.7", "the third of its second");
	filename.pattern = "%t/x";
	filename_expand(&filename, path, sizeof(path));
	is_str(path, "20261018-120000/x", "a directory does not give way");
	is_int(filename_expand(&filename, small, sizeof(small)), ENAMETOOLONG,
	       "no room for it");
}

static void test_match(void)
{
	static const struct {
		const char *pattern, *name;
		bool fits;
		uint64_t counter;
	} table[] = {
		{ "%n-%t.pb.gz", "db-20261121-104500.pb.gz", true, 0 },
		{ "%n-%t.pb.gz", "db-20261121-104500_2.pb.gz", true, 0 },
		{ "%n-%t.pb.gz", "db-20261121-104500_.pb.gz", false, 0 },
		{ "%n-%t.pb.gz", "db-20261121-104500_02.pb.gz", false, 0 },
		{ "%n-%t.pb.gz", "db2-20261121-104500.pb.gz", false, 0 },
		{ "%n-%t.pb.gz", "db-20261121-10450.pb.gz", false, 0 },
		{ "%n-%t.pb.gz", "db-20261121-1045000.pb.gz", false, 0 },
		{ "%n-%t.pb.gz", "db-20261121-104500.pb.gz.bak", false, 0 },
		{ "%n-%t.pb.gz", "db-today.pb.gz", false, 0 },
		{ "%n-%t.pb.gz", "db-", false, 0 },
		{ "%n-%t.pb.gz", "", false, 0 },
		{ "/var/%n/x%c", "x12", true, 12 },
		{ "x%c", "x012", false, 0 },
		{ "x%c", "x0", false, 0 },
		{ "x%c", "x-1", false, 0 },
		{ "x%c", "x+1", false, 0 },
		{ "x%c", "x1234567890", false, 0 },
		{ "%p-%c", "4100-7", true, 7 },
		{ "%p%c", "41007", true, 7 },
		{ "%c0", "700", true, 70 },
		{ "%t_%c", "20261121-104500_9", true, 9 },
		{ "%t_%c", "20261121-104500_2_9", true, 9 },
		{ "%t%c", "20261121-1045009", true, 9 },
		{ "%%%c", "%3", true, 3 },
		{ "%%%c", "x3", false, 0 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct filename filename = { .pattern = table[i].pattern,
						   .process = "db" };
		struct filename_found found = { 0 };

		is_int(filename_match(&filename, table[i].name, &found), table[i].fits,
		       "'%s' of '%s'", table[i].name, table[i].pattern);
		is_int(found.counter, table[i].counter, "its counter");
	}
}

/* Nothing that a pattern may contain takes long. */
static void test_match_long(void)
{
	char pattern[256 * 2 + 1] = "", name[256];
	struct filename filename = { .pattern = pattern, .process = "" };
	struct filename_found found;

	for (int i = 0; i < 256; i++)
		strcat(pattern, "%c");
	memset(name, '1', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ok(!filename_match(&filename, name, &found), "a pattern of 256 counters");
}

static void make(const char *name, time_t time)
{
	const struct timespec times[2] = { { .tv_sec = time }, { .tv_sec = time } };
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	futimens(fd, times);
	close(fd);
}

static bool is_there(const char *name)
{
	return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Files of NOON + 0 ... count - 1 seconds, each with its number in its name. */
static void make_some(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "db-%u", i + 1);
		make(name, NOON + (time_t)i);
	}
}

static void test_keep(void)
{
	const struct filename filename = { .pattern = "/some/where/%n-%c",
					   .process = "db" };
	static const char *const others[] = {
		"db", "db-", "db-x", "db-03", "db-3.bak", "xdb-3", "other-3", "DB-3",
	};
	char name[NAME_MAX + 1];
	int left = 0;

	make_some(9);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		make(others[i], NOON - DAY);
	mkdirat(directory, "db-20", 0700);
	is_int(symlinkat("db-9", directory, "db-21"), 0, "a link");
	mkfifoat(directory, "db-22", 0600);
	is_int(keep_counter(directory, &filename), 22, "the highest counter");
	is_int(rotate_newest(directory, &filename, "db-9", 3, name), 0, "keep 3");
	is_str(name, "", "nothing in the way");
	for (unsigned i = 1; i <= 9; i++) {
		snprintf(name, sizeof(name), "db-%u", i);
		if (i <= 6)
			ok(!is_there(name), "%s has gone", name);
		else
			ok(is_there(name), "%s stays", name);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		left += is_there(others[i]);
	is_int(left, sizeof(others) / sizeof(*others), "others stay");
	ok(is_there("db-20") && is_there("db-21") && is_there("db-22"),
	   "so does what is no file");
	is_int(rotate_newest(directory, &filename, "db-9", 3, name), 0, "once more");
	ok(is_there("db-7"), "there is nothing to do");
	is_int(rotate_newest(directory, &filename, "db-7", 1, name), 0, "keep 1");
	ok(is_there("db-7") && !is_there("db-8") && !is_there("db-9"),
	   "the one just written stays, whatever its time");
	unlinkat(directory, "db-20", AT_REMOVEDIR);
	unlinkat(directory, "db-21", 0);
	unlinkat(directory, "db-22", 0);
}

/* The clock was a year ahead, and has been set right. */
static void test_clock(void)
{
	const struct filename filename = { .pattern = "%n-%t", .process = "w" };
	char name[NAME_MAX + 1];

	make("w-20271121-100000", NOON + 365 * DAY);
	make("w-20271121-101000", NOON + 365 * DAY + 600);
	make("w-20261121-095000", NOON - 600);
	make("w-20261121-100000", NOON);
	make("w-20261121-100000_2", NOON);
	is_int(rotate_newest(directory, &filename, "w-20261121-100000_2", 3, name), 0,
	       "a clock set back");
	ok(!is_there("w-20271121-100000") && !is_there("w-20271121-101000"),
	   "files of the future are the oldest");
	ok(is_there("w-20261121-095000"), "those before them stay");
	make("w-20261121-100030", NOON + 30);
	is_int(rotate_newest(directory, &filename, "w-20261121-100000_2", 3, name), 0,
	       "another run was a moment later");
	ok(is_there("w-20261121-100030") && !is_there("w-20261121-095000"),
	   "which is not the future");
}

/* Many at once: none fails, and as many are left as are to be kept. */
static void test_overlap(void)
{
	const struct filename filename = { .pattern = "many-%c", .process = "" };
	char name[NAME_MAX + 1];
	int bad = 0, left = 0, status;
	pid_t children[8];

	for (unsigned i = 1; i <= 400; i++) {
		snprintf(name, sizeof(name), "many-%u", i);
		make(name, NOON + (time_t)i);
	}
	for (int i = 0; i < 8; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(rotate_newest(directory, &filename, "many-400", 20, name));
	}
	for (int i = 0; i < 8; i++)
		bad += waitpid(children[i], &status, 0) != children[i] || status != 0;
	is_int(bad, 0, "eight remove at the same time");
	for (unsigned i = 1; i <= 400; i++) {
		snprintf(name, sizeof(name), "many-%u", i);
		left += is_there(name) && i > 380;
		bad += is_there(name) && i <= 380;
	}
	is_int(left, 20, "the newest are left");
	is_int(bad, 0, "and no others");
}

static void test_sweep(void)
{
	static const char *const similar[] = {
		".pmp-x-0123456789abcdef.tmp",
		".pmp-1.tmp",
		".pmp-1-1.tmp",
		".pmp-4194303-0123456789abcdef.tmpx",
		".pmp-4194303-0123456789abcdeg.tmp",
		".pmp--5-0123456789abcdef.tmp",
		"pmp-4194303-0123456789abcdef.tmp",
	};
	char own[64], dead[64];
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0); /* its id is nobody's now */
	rotate_temporary_name(own, sizeof(own));
	rotate_temporary_name(dead, sizeof(dead));
	ok(strcmp(own, dead) != 0, "two temporary names differ: %s, %s", own, dead);
	snprintf(dead, sizeof(dead), ".pmp-%d-0123456789abcdef.tmp", (int)child);
	make(own, time(NULL) - 2 * DAY);
	make(dead, time(NULL));
	rotate_remove_stale(directory);
	ok(is_there(own), "a temporary file of a living process stays");
	ok(is_there(dead), "so does a new one");
	make(dead, time(NULL) - 2 * DAY);
	for (size_t i = 0; i < sizeof(similar) / sizeof(*similar); i++)
		make(similar[i], time(NULL) - 2 * DAY);
	rotate_remove_stale(directory);
	ok(!is_there(dead), "an old one of a dead process goes");
	for (size_t i = 0; i < sizeof(similar) / sizeof(*similar); i++)
		ok(is_there(similar[i]), "%s only looks like one: it stays", similar[i]);
}

static void test_trouble(void)
{
	const struct filename filename = { .pattern = "db-%c", .process = "" };
	char name[NAME_MAX + 1];

	is_int(rotate_newest(-1, &filename, "db-1", 1, name), EBADF, "no directory");
	is_int(keep_counter(-1, &filename), 0, "no counter");
	rotate_remove_stale(-1);
}

int main(void)
{
	struct folder folder;

	setenv("TZ", "UTC", 1);
	if (!folder_make(&folder))
		return 1;
	directory = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_check();
	test_expand();
	test_match();
	test_match_long();
	test_keep();
	test_clock();
	test_overlap();
	test_sweep();
	test_trouble();
	close(directory);
	folder_remove(&folder);
	return done_testing();
}
