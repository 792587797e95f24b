/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library that is preloaded and passes each call of malloc() and free() on to glibc's: what
 * it costs to come between a program and its allocator, whatever is done there.
 */
#include <stddef.h>

void *__libc_malloc(size_t size);
void __libc_free(void *block);

static void *(*volatile next_malloc)(size_t size) = __libc_malloc;
static void (*volatile next_free)(void *block) = __libc_free;
static __thread long calls __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	void *block = next_malloc(size);

	calls++;
	return block;
}

__attribute__((visibility("default"))) void free(void *block)
{
	calls++;
	next_free(block);
}
