/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that executes others, at any moment of a capture: each sample of another
 * program than the last one says that there was an exec in between.
 */
#include "lib/tap.h"

#include "lib/child.h"
#include "lib/folder.h"
#include "libpmp.h"

#define CHANGES 100	 /* of the program, to be seen */
#define CAPTURES 1000000 /* at most */
#define NAP 200000	 /* ns: a few captures */

static const char *const programs[] = { "even", "odd" };

/* odd FOLDER: executes FOLDER/even in a while, and so on. Two paths, as the name of the
 * process tells them apart. */
static int execute_other(const char *self, const char *path)
{
	const struct timespec nap = { .tv_nsec = NAP };
	struct folder folder = { 0 };
	char name[PATH_MAX];
	bool odd = strcmp(strrchr(self, '/') + 1, programs[1]) == 0;

	snprintf(folder.path, sizeof(folder.path), "%s", path);
	folder_path(&folder, programs[!odd], name);
	nanosleep(&nap, NULL);
	execl(name, name, path, (char *)NULL);
	return 1;
}

static bool start(const struct child *self, void *folder)
{
	char name[PATH_MAX];

	(void)self;
	folder_path(folder, programs[0], name);
	execl(name, name, ((struct folder *)folder)->path, (char *)NULL);
	return false;
}

static bool link_programs(const struct folder *folder)
{
	char self[PATH_MAX] = { 0 }, name[PATH_MAX];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	for (int i = 0; i < 2; i++)
		if (symlink(self, folder_path(folder, programs[i], name)))
			return false;
	return true;
}

struct found {
	int changes, unsaid, refused, captures;
	char name[256]; /* in the last sample */
};

static void take_one(struct pmp_target *target, struct found *found)
{
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_error err = { 0 };
	struct pmp_sample *sample;

	found->captures++;
	if (pmp_target_capture(target, &sample, &err) < 0) {
		found->refused++;
		return;
	}
	pmp_sample_info(sample, &info);
	if (found->name[0] && strcmp(found->name, info.name) != 0) {
		found->changes++;
		found->unsaid += !info.execed;
	}
	snprintf(found->name, sizeof(found->name), "%s", info.name);
	pmp_sample_free(sample);
}

static void check(pid_t pid)
{
	struct pmp_target_options options = { .size = sizeof(options) };
	struct pmp_target *target;
	struct pmp_error err = { 0 };
	struct found found = { 0 };

	if (!ok(pmp_target_open(pid, &options, &target, &err) >= 0,
		"a program that executes others is opened")) {
		diag("%s", err.message);
		return;
	}
	while (found.changes < CHANGES && found.captures < CAPTURES)
		take_one(target, &found);
	pmp_target_close(target);
	is_int(found.changes, CHANGES, "samples of another program than the last one");
	is_int(found.unsaid, 0, "of these, those that do not say that there was an exec");
	diag("%d captures, %d refused in the middle of an exec", found.captures,
	     found.refused);
}

int main(int argc, char **argv)
{
	struct folder folder;
	struct child child = { 0 };

	if (argc == 2)
		return execute_other(argv[0], argv[1]);
	if (!folder_make(&folder) || !link_programs(&folder)) {
		ok(false, "a folder with two programs");
		return done_testing();
	}
	if (ok(child_start(&child, start, &folder), "the target starts"))
		check(child.pid);
	child_end(&child);
	folder_remove(&folder);
	return done_testing();
}
