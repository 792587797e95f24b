/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of system calls, from a list that the build makes from the kernel's headers. */
#include "base/syscalls.h"

#include <stdio.h>
#include <string.h>

/* By number; NULL: no such call. */
static const char *const names[] = {
#define SYSCALL(name, number) [number] = #name,
#include "base/syscall-list.h"
#undef SYSCALL
};

static const char *const generic_names[] = {
#define SYSCALL(name, number) [number] = #name,
#include "base/syscall-list-generic.h"
#undef SYSCALL
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *pmp_syscall_name(int number)
{
	if (number < 0 || (size_t)number >= COUNT(names))
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

int pmp_syscall_from_generic(int number)
{
	const char *wanted = number >= 0 && (size_t)number < COUNT(generic_names)
				     ? generic_names[number]
				     : NULL;

	for (int i = 0; wanted && i < (int)COUNT(names); i++)
		if (names[i] && strcmp(names[i], wanted) == 0)
			return i;
	return -1;
}

bool pmp_syscall_is_of_disk(const char *name)
{
	static const char *const calls[] = {
		"fdatasync", "fsync",		"msync",    "pread64",
		"preadv",    "preadv2",		"pwrite64", "pwritev",
		"pwritev2",  "sync_file_range", "sync",	    "syncfs",
	};

	for (size_t i = 0; i < COUNT(calls); i++)
		if (strcmp(name, calls[i]) == 0)
			return true;
	return false;
}
