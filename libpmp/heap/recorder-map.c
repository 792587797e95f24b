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

INTERPOSED void *mmap(void *address, size_t size, int prot, int flags, int fd,
		      off_t offset)
{
	void *got;

	recorder_start();
	got = next.mmap(address, size, prot, flags, fd, offset);
	if (got != FAILED && flags & MAP_ANONYMOUS &&
	    is_wanted(__builtin_return_address(0)))
		growth_mapped(got, size, false);
	return got;
}

INTERPOSED void *mmap64(void *address, size_t size, int prot, int flags, int fd,
			off64_t offset)
{
	void *got;

	recorder_start();
	got = next.mmap(address, size, prot, flags, fd, offset);
	if (got != FAILED && flags & MAP_ANONYMOUS &&
	    is_wanted(__builtin_return_address(0)))
		growth_mapped(got, size, false);
	return got;
}

INTERPOSED int munmap(void *address, size_t size)
{
	int status;

	recorder_start();
	status = next.munmap(address, size);
	if (status == 0 && is_wanted(__builtin_return_address(0)))
		growth_mapped(address, size, true);
	return status;
}

INTERPOSED void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
	void *to = NULL, *got;
	va_list list;

	recorder_start();
	if (flags & MREMAP_FIXED) {
		va_start(list, flags);
		to = va_arg(list, void *);
		va_end(list);
	}
	got = next.mremap(address, size, new_size, flags, to);
	if (got == FAILED || !is_wanted(__builtin_return_address(0)))
		return got;
	growth_mapped(address, size, true);
	growth_mapped(got, new_size, false);
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
