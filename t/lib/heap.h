/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory runs out: the test interposes malloc() and related functions of glibc, and the
 * k-th allocation fails, for every k. Sanitizers interpose their own, so with them such a
 * test has nothing to do (HEAP_OURS is not defined then).
 *
 *	static bool use_buf(unsigned *wrong) { ... }
 *	try_all(use_buf, "buf");
 */
#ifndef PMP_T_HEAP_H
#define PMP_T_HEAP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "lib/tap.h"

#if !SANITIZED && defined(__GLIBC__)
#define HEAP_OURS

/* malloc(size) that never fails: of libraries that do not check the result. */
#ifndef HEAP_SPARED
#define HEAP_SPARED(size) false
#endif

/* ---- an allocator that fails once ---------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);
void __libc_free(void *data);

/* volatile, as compilers assume that malloc() does not change variables of the program. */
static volatile struct {
	bool counting;
	bool lasting; /* all calls after the failing one fail, too */
	long live, calls, fail_at;
	unsigned leaks; /* so many failures may leak memory of libraries */
	bool failed;
} heap;

static bool fails(void)
{
	long call = heap.counting ? heap.calls++ : -1;

	if (call < 0 || heap.fail_at < 0 || call < heap.fail_at ||
	    (call > heap.fail_at && !heap.lasting))
		return false;
	heap.failed = true;
	errno = ENOMEM;
	return true;
}

static void *counted(void *data)
{
	heap.live += heap.counting && data;
	return data;
}

void *malloc(size_t size)
{
	if (!HEAP_SPARED(size) && fails())
		return NULL;
	return counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *data, size_t size)
{
	if (fails())
		return NULL;
	return data ? __libc_realloc(data, size) : counted(__libc_realloc(data, size));
}

void free(void *data)
{
	heap.live -= heap.counting && data;
	__libc_free(data);
}

/* Returns false if a call has reported that memory has run out, and counts what is wrong
 * with results that it has got nevertheless. */
typedef bool scenario(unsigned *wrong);

/* ---- every allocation in turn -------------------------------------------- */

TAP_UNUSED static void try_all(scenario *try, const char *name)
{
	unsigned wrong = 0, kept = 0, unsaid = 0, descriptors = 0;
	int next = dup(0), now;
	bool good;
	long k = 0;

	close(next);
	do {
		heap.live = heap.calls = 0;
		heap.failed = false;
		heap.fail_at = k++;
		heap.counting = true;
		good = try(&wrong);
		heap.counting = false;
		kept += heap.live != 0;
		unsaid += good == heap.failed;
		now = dup(0);
		close(now);
		descriptors += now != next;
	} while (heap.failed && k < 10000);
	ok(k > 1 && k < 10000 && good, "%s: each of %ld allocations has failed", name,
	   k - 1);
	is_int(unsaid, 0, "%s: each failure is reported", name);
	is_int(wrong, 0, "%s: what is there nevertheless is right", name);
	ok(kept <= heap.leaks, "%s: no memory is kept (%u times)", name, kept);
	is_int(descriptors, 0, "%s: no descriptor is kept", name);
}

/* False under valgrind, which interposes its own allocator before ours. */
static bool ours(void)
{
	void *volatile data;

	heap.counting = true;
	heap.fail_at = -1;
	data = malloc(1);
	free(data);
	heap.counting = false;
	return heap.calls > 0;
}

#endif
#endif
