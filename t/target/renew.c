/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * renew threads|code|libraries [PLUGIN]: what it consists of is new again and again:
 * threads with names of their own; functions made at run time, each at an address where
 * there was none before; copies of the plugin in files of their own. The thread that does
 * it sleeps for a moment in each.
 *
 * Verdict: each did what it had to.
 */
#include "target.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define CODE_SIZE ((size_t)4096)
#define CODE_STEP 16	       /* bytes between two functions on a page */
#define AREA ((size_t)1 << 30) /* of addresses that come one after the other */
#define NAP 300		       /* microseconds */

static unsigned long count;

static NOINLINE int nap(int argument)
{
	usleep(NAP);
	return argument;
}

/* ---- threads ---------------------------------------------------------------------- */

static void *newborn(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "%lx", count * 2654435761u);
	pthread_setname_np(pthread_self(), name);
	nap(0);
	return arg;
}

static void threads(void)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, newborn, &count) != 0 ||
	    pthread_join(thread, &result) != 0 || result != &count)
		target_verdict("thread %lu", count);
}

/* ---- code ---------------------------------------------------------------------- */

/* A function with a frame pointer that calls its second argument with its first. */
#if defined __x86_64__
static const unsigned char caller_code[] = { 0x55, 0x48, 0x89, 0xe5,
					     0xff, 0xd6, 0x5d, 0xc3 };
#elif defined __aarch64__
static const unsigned char caller_code[] = {
	0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x20, 0x00,
	0x3f, 0xd6, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,
};
#endif

static void code(void)
{
	static size_t at = AREA;
	static char *area;
	int (*call)(int argument, int (*work)(int));
	char *page;

	if (at >= AREA) {
		area = mmap(NULL, AREA, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		at = 0;
	}
	if (area == MAP_FAILED)
		target_die("mmap");
	page = area + at;
	at += CODE_SIZE;
	if (mprotect(page, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		target_die("mprotect");
	for (size_t i = 0; i + sizeof(caller_code) < CODE_SIZE / 8; i += 2 * CODE_STEP) {
		memcpy(page + i, caller_code, sizeof(caller_code));
		__builtin___clear_cache(page + i, page + i + sizeof(caller_code));
		*(void **)&call = page + i;
		if (call(7, nap) != 7)
			target_verdict("function %lu gave nonsense", count);
	}
	munmap(page, CODE_SIZE);
}

/* ---- libraries ---------------------------------------------------------------- */

static void library(const char *path)
{
	int (*outer)(int (*work)(int), int argument) = NULL;
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("plugin", MFD_CLOEXEC);
	struct stat status;
	char name[64];
	void *made;

	if (from < 0 || to < 0 || fstat(from, &status) ||
	    sendfile(to, from, NULL, (size_t)status.st_size) != status.st_size)
		target_die("memfd");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
	made = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (made)
		*(void **)&outer = dlsym(made, "plugin_outer");
	if (!outer || outer(nap, 7) != 15)
		target_verdict("library %lu gave nonsense", count);
	dlclose(made);
	close(from);
	close(to);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	target_begin();
	target_ready();
	for (; !target_should_end(); count++) {
		if (strcmp(what, "threads") == 0)
			threads();
		else if (strcmp(what, "code") == 0)
			code();
		else if (argc > 2)
			library(argv[2]);
		else
			return 2;
	}
	target_verdict(NULL);
}
