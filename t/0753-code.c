/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that takes the place of other code, at the same address and with the same bytes: each
 * capture shows the file that is mapped by then.
 */
#include "lib/tap.h"

#include <pthread.h>
#include <sys/mman.h>

#include "lib/child.h"
#include "lib/folder.h"
#include "libpmp.h"

#define CHANGES 50

static const char *const names[] = { "even.so", "odd.so" };

/* int *runs: *runs = 1; for (;;); */
#ifdef __x86_64__
static const unsigned char loop[] = { 0xc7, 0x07, 1, 0, 0, 0, 0xeb, 0xfe };
#else
static const unsigned char loop[] = { 0x21, 0, 0x80, 0x52, 1, 0, 0, 0xb9, 0, 0, 0, 0x14 };
#endif

static bool write_code(const struct folder *folder, const char *name)
{
	char path[PATH_MAX];
	FILE *file = fopen(folder_path(folder, name, path), "w");
	bool good = file && fwrite(loop, sizeof(loop), 1, file) == 1;

	return file && fclose(file) == 0 && good;
}

/* At at, or at any address if that is NULL. */
static void *map_code(const struct folder *folder, const char *name, void *at)
{
	char path[PATH_MAX];
	int fd = open(folder_path(folder, name, path), O_RDONLY | O_CLOEXEC);
	void *code = mmap(at, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);

	close(fd);
	return code;
}

/* Until it runs there a new thread is in libc, and stays there while others have the
 * processors. */
static bool run_code(void *code)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	void *(*run)(void *);
	pthread_t thread;
	int runs = 0;

	memcpy(&run, &code, sizeof(run));
	if (pthread_create(&thread, NULL, run, &runs))
		return false;
	while (!__atomic_load_n(&runs, __ATOMIC_ACQUIRE))
		nanosleep(&nap, NULL);
	return true;
}

static bool change(const struct child *self, void *folder)
{
	void *code = map_code(folder, names[0], NULL);

	if (code == MAP_FAILED || !run_code(code))
		return false;
	for (int i = 1; i < CHANGES; i++) {
		child_answer(self, true);
		child_wait(self);
		if (map_code(folder, names[i % 2], code) != code)
			return false;
	}
	return true;
}

/* Does the capture show the thread that runs, and in which of the files? -1: it does not. */
static int file_shown(struct pmp_target *target)
{
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_sample_frame_info frame = { .size = sizeof(frame) };
	struct pmp_sample *sample;
	int shown = -1;

	if (pmp_target_capture(target, &sample, NULL) < 0)
		return -1;
	pmp_sample_info(sample, &info);
	for (size_t i = 0; i < info.threads && shown < 0; i++)
		for (int k = 0; k < 2; k++)
			if (pmp_sample_frame(sample, i, 0, &frame) &&
			    strstr(frame.module, names[k]))
				shown = k;
	pmp_sample_free(sample);
	return shown;
}

static void check(const struct child *child)
{
	struct pmp_target_options options = { .size = sizeof(options) };
	struct pmp_target *target;
	int right = 0, wrong = 0;

	if (!ok(pmp_target_open(child->pid, &options, &target, NULL) >= 0,
		"a process whose code changes is opened"))
		return;
	for (int i = 0; i < CHANGES; i++) {
		int shown = i && !child_order(child) ? -1 : file_shown(target);

		right += shown == i % 2;
		wrong += shown == !(i % 2);
	}
	pmp_target_close(target);
	is_int(right, CHANGES, "captures that show the file that is mapped");
	is_int(wrong, 0, "captures that show the one before");
}

int main(void)
{
	struct child child = { 0 };
	struct folder folder;

	if (!folder_make(&folder) || !write_code(&folder, names[0]) ||
	    !write_code(&folder, names[1])) {
		ok(false, "a folder with two files");
		return done_testing();
	}
	if (ok(child_start(&child, change, &folder), "the target starts"))
		check(&child);
	child_end(&child);
	folder_remove(&folder);
	return done_testing();
}
