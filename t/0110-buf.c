/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/buf, and what else in base fills memory of its caller: errors, logs, files. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/syscalls.h"
#include "lib/tap.h"

static void test_buf(void)
{
	struct pmp_buf buf = { 0 };

	ok(!pmp_buf_failed(&buf) && !buf.data, "an empty buffer has no memory");
	pmp_buf_add(&buf, NULL, 0);
	is_str(buf.data, "", "adding nothing ends it with a NUL");
	pmp_buf_puts(&buf, "one ");
	pmp_buf_putc(&buf, '2');
	pmp_buf_add(&buf, " three", 4);
	pmp_buf_printf(&buf, "%s%d", "! ", 4);
	is_str(buf.data, "one 2 thr! 4", "text is appended");
	is_int(buf.length, strlen(buf.data), "length");
	pmp_buf_add(&buf, "\0x", 2);
	is_int(buf.length, 14, "a NUL is a byte as any other");
	memcpy(pmp_buf_extend(&buf, 3), "abc", 3);
	is_str(buf.data + 14, "abc", "what the caller fills in ends with a NUL");
	pmp_buf_cut(&buf, 15);
	pmp_buf_cut(&buf, 16);
	is_str(buf.data + 14, "a", "bytes are taken off the end again, none added");
	pmp_buf_clear(&buf);
	is_int(buf.length, 0, "cleared");
	is_str(buf.data, "", "cleared text");

	for (int i = 0; i < 5000; i++)
		pmp_buf_printf(&buf, "%04d %.*s", i, i % 300, "................");
	ok(strlen(buf.data) == buf.length && buf.capacity > buf.length,
	   "%zu bytes printed piece by piece", buf.length);
	pmp_buf_clear(&buf);
	for (int length = 0; length < 200; length++) {
		pmp_buf_printf(&buf, "%*d", length + 1, 7);
		if (buf.length != (size_t)length + 1 || buf.data[length] != '7')
			break;
		pmp_buf_free(&buf);
	}
	ok(buf.length == 0, "a printed text of each length has all its bytes");
	pmp_buf_free(&buf);
	ok(!buf.data && !buf.capacity, "freed");
}

static void test_failure(void)
{
	struct pmp_buf buf = { 0 };

	pmp_buf_puts(&buf, "kept");
	pmp_buf_add(&buf, "x", SIZE_MAX - 2);
	ok(pmp_buf_failed(&buf) && !pmp_buf_extend(&buf, 1), "what cannot be held fails");
	is_str(buf.data, "kept", "what was there is still there");
	pmp_buf_puts(&buf, "more");
	pmp_buf_printf(&buf, "%d", 1);
	is_str(buf.data, "kept", "nothing is added after a failure");
	pmp_buf_clear(&buf);
	ok(pmp_buf_failed(&buf), "clearing does not hide a failure");
	pmp_buf_free(&buf);
	ok(!pmp_buf_failed(&buf), "freeing does");
}

static void test_array(void)
{
	uint64_t *items = NULL;
	size_t capacity = 0, steps = 0;
	char *copy;

	is_int(PMP_RESERVE(&items, &capacity, 0), 0, "no room is always there");
	ok(!items, "and costs nothing");
	for (size_t i = 0; i < 100000; i++) {
		size_t before = capacity;

		if (PMP_RESERVE(&items, &capacity, i + 1))
			break;
		steps += capacity != before;
		items[i] = i;
	}
	ok(steps < 20 && items[99999] == 99999, "grows in %zu steps", steps);
	is_int(PMP_RESERVE(&items, &capacity, SIZE_MAX / 8 + 1), PMP_ENOMEM,
	       "an overflow of the size is no memory");
	is_int(PMP_RESERVE(&items, &capacity, SIZE_MAX), PMP_ENOMEM, "the largest need");
	ok(capacity >= 100000 && items[5] == 5, "a failure changes nothing");
	free(items);
	copy = pmp_copy("ab\0c", 4);
	ok(copy && memcmp(copy, "ab\0c", 5) == 0, "a copy with NUL inside and behind");
	free(copy);
	copy = pmp_copy(NULL, 0);
	is_str(copy, "", "a copy of nothing");
	free(copy);
	ok(!pmp_copy("", SIZE_MAX), "a copy of too much");
}

static void test_error(void)
{
	struct pmp_error err;
	char large[1000];

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	is_int(pmp_error_set(NULL, PMP_EIO, "nobody asks"), PMP_EIO, "without err");
	pmp_error_hint(NULL, "nobody asks");
	is_int(pmp_error_set(&err, PMP_EINVAL, "no %s", "way"), PMP_EINVAL, "code");
	is_str(err.message, "no way", "message");
	is_str(err.hint, "", "no hint yet");
	pmp_error_hint(&err, "try %d", 2);
	is_str(err.hint, "try 2", "hint");
	pmp_error_set(&err, PMP_EIO, "first: %s", err.message);
	is_str(err.message, "first: no way", "an argument may be the message itself");
	is_str(err.hint, "", "a new message has no hint");
	pmp_error_sys(&err, PMP_EPERM, EACCES, "cannot read %s", large);
	ok(strstr(err.message, ": Permission denied"), "a long text keeps its cause");
	is_int(err.sys_errno, EACCES, "errno");
	is_int(pmp_error_nomem(&err, "counting"), PMP_ENOMEM, "no memory");
	is_str(err.message, "counting: not enough memory", "and what for");
	large[382] = '\xc3'; /* the first byte of a letter of two */
	large[383] = '\xa9';
	pmp_error_set(&err, PMP_EIO, "%s", large);
	is_int(strlen(err.message), 382, "no half letter at the end");
	pmp_error_hint(&err, "%s", large);
	is_int(strlen(err.hint), 255, "a long hint is cut");
}

static void keep_line(void *arg, const char *area, const char *line)
{
	snprintf(arg, 64, "%s|%zu|%.20s", area, strlen(line), line);
}

static void test_log(void)
{
	char line[64] = "";
	struct pmp_log log = { 0 };
	int evaluated = 0;

	PMP_LOG(&log, "stop", "%d", ++evaluated);
	is_int(evaluated, 0, "nothing is computed for a log that is off");
	pmp_log_line(&log, "stop", "nobody listens");
	log = (struct pmp_log){ keep_line, line };
	PMP_LOG(&log, "stop", "tid %d", 7);
	is_str(line, "stop|5|tid 7", "a line");
	PMP_LOG(&log, "maps", "%05000d", 1);
	is_str(line, "maps|1023|00000000000000000000", "a long line is cut");
}

static void test_file(void)
{
	struct pmp_buf buf = { 0 };
	int fd = memfd_create("t", MFD_CLOEXEC);
	char path[64], text[16];
	uint8_t *large = calloc(1, 100000);

	is_int(write(fd, "0123456789", 10), 10, "a file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	is_int(pmp_file_read(AT_FDCWD, path, text, sizeof(text)), 10, "read whole");
	is_str(text, "0123456789", "its bytes");
	is_int(pmp_file_read(AT_FDCWD, path, text, 5), 4, "read into too little");
	is_str(text, "0123", "ends with a NUL");
	is_int(pmp_file_read(AT_FDCWD, path, text, 1), 0, "room for the NUL only");
	is_int(pmp_file_read(AT_FDCWD, "/nowhere/at/all", text, 5), -ENOENT,
	       "no such file");
	is_int(pmp_file_read(AT_FDCWD, "/", text, 5), -EISDIR, "a directory");
	is_int(pmp_file_slurp(AT_FDCWD, path, 10, &buf), 0, "slurped to the limit");
	is_str(buf.data, "0123456789", "its bytes");
	is_int(pmp_file_slurp(AT_FDCWD, path, 9, &buf), -EFBIG, "beyond the limit");
	is_int(pwrite(fd, large, 100000, 10), 100000, "a large file");
	is_int(pmp_file_slurp(AT_FDCWD, path, 1 << 20, &buf), 0, "slurped again");
	is_int(buf.length, 100010, "the new bytes instead of the old ones");
	is_int(pmp_file_slurp(AT_FDCWD, "/proc/self/maps", 1 << 24, &buf), 0,
	       "a /proc file");
	ok(strstr(buf.data, "[stack]"), "is read to its end");
	is_int(pmp_file_pread(fd, text, 4, 3), 4, "pread");
	ok(memcmp(text, "3456", 4) == 0, "at its place");
	is_int(pmp_file_pread(fd, large, 100000, 50010), 50000, "pread up to the end");
	is_int(pmp_file_pread(fd, text, 4, 1 << 20), 0, "pread behind the end");
	is_int(pmp_file_pread(-1, text, 4, 0), -EBADF, "pread of nothing");
	is_int(pmp_file_pread(fd, text, 4, UINT64_MAX), -EINVAL, "pread at no place");
	pmp_buf_free(&buf);
	free(large);
	close(fd);
}

/* Opened as by kernels that have openat2() and by others. */
static int opened(bool walk, const char *path)
{
	const int fd = walk ? pmp_path_walk(AT_FDCWD, path) : pmp_path_open(path, 0);
	struct stat status;
	int inode = fd;

	if (fd >= 0) {
		inode = fstat(fd, &status) == 0 ? (int)status.st_ino : -EIO;
		close(fd);
	}
	return inode;
}

static int inode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (int)status.st_ino : -errno;
}

static void test_links(bool walk)
{
	static const char *const fine[] = {
		"file",	    "./d//e/../../file", "link", "d/up/file",
		"absolute", "d/e/above",	 "d/.",	 "d/e/",
		"/",	    "/etc/../usr/",
	};
	static const char *const missing[] = { "nothing", "file/x", "d/x/y", "dangling",
					       "" };

	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++)
		is_int(opened(walk, fine[i]), inode_of(fine[i]), "%s", fine[i]);
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
		ok(opened(walk, missing[i]) < 0, "'%s' is not there", missing[i]);
	is_int(opened(walk, "loop"), -ELOOP, "a loop of links");
	is_int(opened(walk, "magic"), -ELOOP, "a link through /proc/PID/root");
	is_int(opened(walk, "d/magic/file"), -ELOOP,
	       "one through /proc/PID/cwd, in between");
	is_int(opened(walk, "/proc/self/cwd/file"), -ELOOP, "/proc/PID/cwd itself");
}

static void test_path(void)
{
	char folder[] = "/tmp/pmp-test.XXXXXX", target[128], given[64];
	int fd;

	if (!mkdtemp(folder) || chdir(folder) ||
	    system("mkdir -p d/e && echo x >file && ln -s file link && ln -s .. d/up && "
		   "ln -s $PWD/d/e/../../file absolute && ln -s ../../link d/e/above && "
		   "ln -s none dangling && ln -s loop loop")) {
		ok(false, "cannot make links");
		return;
	}
	snprintf(target, sizeof(target), "/proc/%d/root%s/file", (int)getpid(), folder);
	snprintf(given, sizeof(given), "/proc/%d/cwd", (int)getpid());
	ok(symlink(target, "magic") == 0 && symlink(given, "d/magic") == 0, "links");
	test_links(false);
	test_links(true);
	fd = pmp_path_open(target, strlen(given) + 1);
	ok(fd >= 0, "/proc/PID/root is opened if it is given");
	close(fd);
	is_int(pmp_path_open("d/../magic", 1), -ELOOP, "links below are not followed");
	fd = pmp_path_open("magic", 5);
	ok(fd >= 0, "unless all is given");
	close(fd);
	ok(chdir("/") == 0 && snprintf(target, sizeof(target), "rm -r %s", folder) > 0 &&
		   system(target) == 0,
	   "removed");
}

int main(void)
{
	uint64_t before = pmp_clock();

	test_buf();
	test_failure();
	test_array();
	test_error();
	test_log();
	test_file();
	test_path();
	ok(before && pmp_clock() > before, "the clock goes on");
	ok(pmp_clock_realtime() > 1500000000 * PMP_S, "it is later than 2017");
	is_str(pmp_syscall_name(-1), NULL, "no system call -1");
	is_str(pmp_syscall_name(1 << 30), NULL, "no such large system call");
	ok(pmp_syscall_name(0), "system call 0 has a name");
	return done_testing();
}
