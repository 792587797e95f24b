/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See not-loaded.h. It looks at the program file, as the dynamic loader does not tell. */
#include "source/not-loaded.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define SEGMENTS_MOST 128

/* Find it like execvp(). */
static int open_by_name(const char *name)
{
	const char *folders = getenv("PATH");
	char path[PATH_SIZE];
	size_t n;
	int fd = -1;

	if (strchr(name, '/') || !folders)
		return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	for (; fd < 0 && *folders; folders += n + (folders[n] == ':')) {
		n = strcspn(folders, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)n, folders, name);
		if (access(path, X_OK) == 0)
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	return fd;
}

static int open_program(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? open_by_name(name) : fd;
}

/* Such a program runs without LD_PRELOAD; see ld.so(8). NULL: it is none. */
static const char *gained_rights(int fd, const struct stat *status)
{
	if (status->st_mode & S_ISUID && status->st_uid != getuid())
		return "is setuid";
	if ((status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    status->st_gid != getgid())
		return "is setgid";
	if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has capabilities";
	return NULL;
}

static bool has_loader(int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < header->e_phnum && i < SEGMENTS_MOST; i++) {
		const off_t at = (off_t)(header->e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return true;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *reason_of(int fd)
{
	struct stat status;
	Elf64_Ehdr header;
	const char *reason = fstat(fd, &status) == 0 ? gained_rights(fd, &status) : NULL;

	if (reason)
		return reason;
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return "is a 32-bit program";
	return has_loader(fd, &header) ? NULL : "is static";
}

const char *not_loaded_reason(pid_t pid, const char *name)
{
	const int fd = open_program(pid, name);
	const char *reason = fd < 0 ? NULL : reason_of(fd);

	if (fd >= 0)
		close(fd);
	return reason;
}
