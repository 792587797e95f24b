/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dlopener loop|hold|memfd PLUGIN [OTHER]: calls into libraries that come and go:
 * work plugin_inner plugin_outer use main. "loop" opens and closes the plugins
 * in turn, "hold" keeps one open and sleeps in it, "memfd" the same from a copy
 * in memory only.
 *
 * Verdict: each call gave what it had to.
 */
#include "target.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define WORK_TURNS 100000000 /* a tenth of a second: long beside one capture */
#define ARGUMENT 20

static bool held;

static NOINLINE int work(int argument)
{
	volatile uint64_t turns = 0;

	if (held) {
		target_ready();
		target_wait_end();
	} else {
		while (turns < WORK_TURNS)
			turns++;
	}
	return argument;
}

static NOINLINE int use(const char *path)
{
	int (*outer)(int (*work)(int), int argument);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int result = -1;

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&outer = dlsym(library, "plugin_outer");
	if (outer)
		result = outer(work, ARGUMENT);
	dlclose(library);
	return result;
}

static const char *copy_to_memory(const char *path)
{
	static char name[64];
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("plugin", MFD_CLOEXEC);
	struct stat status;

	if (from < 0 || to < 0 || fstat(from, &status) ||
	    sendfile(to, from, NULL, (size_t)status.st_size) != status.st_size)
		target_die("memfd");
	close(from);
	snprintf(name, sizeof name, "/proc/self/fd/%d", to);
	return name;
}

int main(int argc, char **argv)
{
	const char *path = argc > 2 ? argv[2] : "";
	unsigned long turn;

	if (argc < 3)
		return 2;
	target_begin();
	held = strcmp(argv[1], "loop") != 0;
	if (strcmp(argv[1], "memfd") == 0)
		path = copy_to_memory(path);
	if (held) {
		if (use(path) != 2 * ARGUMENT + 1)
			target_verdict("the plugin gave nonsense");
		target_verdict(NULL);
	}
	target_ready();
	for (turn = 0; !target_should_end(); turn++)
		if (use(argv[2 + turn % (unsigned long)(argc - 2)]) != 2 * ARGUMENT + 1)
			target_verdict("a plugin gave nonsense in turn %lu", turn);
	target_verdict(NULL);
}
