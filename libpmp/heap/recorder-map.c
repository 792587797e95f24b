/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With --heap-mmap: memory that the program itself takes from the kernel, but not what its
 * allocator takes. That of the C library does not call these functions; others are
 * recognized by the return address.
 */
#include "heap/recorder.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAILED ((void *)-1)
#define PAGE 4096
#define FILES 1024 /* mapped at a time */
#define TAKEN 1	   /* start of an entry that a thread is changing */

/* Is a call with this return address to be recorded? */
static bool is_wanted(const void *caller)
{
	static uint64_t start, end; /* of the allocator's code */

	if (LIKELY(!recorder.header) || !(recorder.header->flags & PMP_HEAP_FLAG_MMAP))
		return false;
	if (!end)
		lookup_bounds((const void *)(uintptr_t)next.malloc, &start, &end);
	return (uintptr_t)caller < start || (uintptr_t)caller >= end;
}

/* ---- mapped files ------------------------------------------------------------------ */

/* They are not memory, so to unmap them gives none back. If there are more, the rest counts
 * as memory when it is unmapped. */
static struct {
	uintptr_t start, end; /* start 0: free */
} files[FILES];
static uint32_t files_used;

static uintptr_t pages_after(const void *at, size_t size)
{
	return ((uintptr_t)at + size + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
}

static void add_file(uintptr_t start, uintptr_t end)
{
	for (uint32_t i = 0; i < FILES; i++) {
		uintptr_t is = 0;
		uint32_t used = __atomic_load_n(&files_used, __ATOMIC_RELAXED);

		if (__atomic_load_n(&files[i].start, __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&files[i].start, &is, TAKEN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&files[i].end, end, __ATOMIC_RELAXED);
		__atomic_store_n(&files[i].start, start, __ATOMIC_RELEASE);
		while (used <= i &&
		       !__atomic_compare_exchange_n(&files_used, &used, i + 1, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
		return;
	}
}

/* Forget the files in this range. Returns how many bytes of it they were. */
static size_t take_files(const void *address, size_t size)
{
	const uintptr_t from = (uintptr_t)address, to = pages_after(address, size);
	size_t bytes = 0;

	for (uint32_t i = 0; i < __atomic_load_n(&files_used, __ATOMIC_ACQUIRE); i++) {
		uintptr_t start = __atomic_load_n(&files[i].start, __ATOMIC_ACQUIRE);
		const uintptr_t end = __atomic_load_n(&files[i].end, __ATOMIC_RELAXED);

		if (start <= TAKEN || start >= to || end <= from ||
		    !__atomic_compare_exchange_n(&files[i].start, &start, TAKEN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&files[i].start, 0, __ATOMIC_RELEASE);
		bytes += (end < to ? end : to) - (start > from ? start : from);
		if (start < from)
			add_file(start, from);
		if (end > to)
			add_file(to, end);
	}
	return bytes;
}

/* ---- calls -------------------------------------------------------------------------- */

static void note_mapping(const void *at, size_t size, int flags)
{
	take_files(at, size); /* it may replace them */
	if (flags & MAP_ANONYMOUS)
		growth_mapped(at, size, false);
	else
		add_file((uintptr_t)at, pages_after(at, size));
}

INTERPOSED void *mmap(void *address, size_t size, int prot, int flags, int fd,
		      off_t offset)
{
	void *got;

	recorder_start();
	got = next.mmap(address, size, prot, flags, fd, offset);
	if (got != FAILED && is_wanted(__builtin_return_address(0)))
		note_mapping(got, size, flags);
	return got;
}

INTERPOSED void *mmap64(void *address, size_t size, int prot, int flags, int fd,
			off64_t offset) __attribute__((alias("mmap")));

/* Files are forgotten before another thread may map one in their place. */
INTERPOSED int munmap(void *address, size_t size)
{
	bool wanted;
	size_t bytes = 0;
	int status;

	recorder_start();
	wanted = is_wanted(__builtin_return_address(0));
	if (wanted)
		bytes = take_files(address, size);
	status = next.munmap(address, size);
	if (status != 0 && bytes)
		add_file((uintptr_t)address & ~(uintptr_t)(PAGE - 1),
			 pages_after(address, size));
	if (status == 0 && wanted && bytes < size)
		growth_mapped(address, size - bytes, true);
	return status;
}

INTERPOSED void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
	void *to = NULL, *got;
	bool wanted, is_file = false;
	va_list list;

	recorder_start();
	if (flags & MREMAP_FIXED) {
		va_start(list, flags);
		to = va_arg(list, void *);
		va_end(list);
	}
	wanted = is_wanted(__builtin_return_address(0));
	if (wanted)
		is_file = take_files(address, size) > 0;
	got = next.mremap(address, size, new_size, flags, to);
	if (!wanted)
		return got;
	if (got == FAILED && is_file)
		add_file((uintptr_t)address, pages_after(address, size));
	if (got == FAILED)
		return got;
	if (!is_file)
		growth_mapped(address, size, true);
	note_mapping(got, new_size, is_file ? 0 : MAP_ANONYMOUS);
	return got;
}

INTERPOSED void *sbrk(intptr_t change)
{
	void *was;

	recorder_start();
	was = next.sbrk(change);
	if (change && was != FAILED && is_wanted(__builtin_return_address(0)))
		growth_mapped(was, (size_t)(change < 0 ? -change : change), change < 0);
	return was;
}

INTERPOSED int brk(void *end)
{
	const bool wanted = is_wanted(__builtin_return_address(0));
	char *was;
	int status;

	recorder_start();
	was = wanted ? next.sbrk(0) : NULL;
	status = next.brk(end);
	if (status == 0 && wanted && was != FAILED)
		growth_mapped(was,
			      (size_t)((char *)end < was ? was - (char *)end
							 : (char *)end - was),
			      (char *)end < was);
	return status;
}
