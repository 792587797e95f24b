/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded: the FAIL_AT-th allocation of a process fails; with FAIL_IN=child that
 * of one that it has forked. At its end the process itself writes how many there were into
 * the file FAIL_COUNT. What libdw asks for itself does not fail: its hash tables end the
 * process by an assertion then, and 0470 has what can be done about the rest of it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What glibc calls them inside; to look them up would take memory. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static long count, fail_at;
static bool in_child;
static pid_t first;

static bool is_libdw(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, "libdw");
}

static bool fails(const void *caller)
{
	if (!first) {
		const char *at = getenv("FAIL_AT"), *where = getenv("FAIL_IN");

		first = getpid();
		fail_at = at ? atol(at) : 0;
		in_child = where && strcmp(where, "child") == 0;
	}
	if ((getpid() != first) != in_child ||
	    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != fail_at ||
	    is_libdw(caller))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("FAIL_COUNT");
	FILE *file = path && getpid() == first ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%ld\n", count);
	fclose(file);
}
