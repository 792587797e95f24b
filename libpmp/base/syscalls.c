/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of system calls, from a list that the build makes of the kernel's headers. */
#include "base/syscalls.h"

#include <stdio.h>
#include <string.h>

/* By number; a number without a call is NULL. */
static const char *const names[] = {
#define SYSCALL(name, number) [number] = #name,
#include "base/syscall-list.h"
#undef SYSCALL
};

const char *pmp_syscall_name(int number)
{
	if (number < 0 || (size_t)number >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[number];
}

const char *pmp_syscall_text(int number, char *text, size_t size)
{
	const char *name = pmp_syscall_name(number);

	if (number < 0)
		return "";
	if (name)
		return name;
	snprintf(text, size, "%d", number);
	return text;
}

bool pmp_syscall_is_of_disk(const char *name)
{
	static const char *const calls[] = {
		"fdatasync", "fsync",		"msync",    "pread64",
		"preadv",    "preadv2",		"pwrite64", "pwritev",
		"pwritev2",  "sync_file_range", "sync",	    "syncfs",
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(name, calls[i]) == 0)
			return true;
	return false;
}
