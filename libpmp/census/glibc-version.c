/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See glibc-version.h. The library contains the text that it prints when
 * executed: "GNU C Library (...) stable release version 2.36."
 */
#include "census/glibc-version.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/file.h"

#define PIECE 65536
#define FILE_MAX (UINT64_C(64) << 20) /* of a library to search */
#define VERSION_MAX 1000

static const char before[] = " release version 2.";

/* The number at the beginning of a NUL-terminated text. */
static unsigned number_at(const char *text)
{
	unsigned number = 0;

	while (*text >= '0' && *text <= '9' && number < VERSION_MAX)
		number = number * 10 + (unsigned)(*text++ - '0');
	return number < VERSION_MAX ? number : 0;
}

/* Pieces overlap, so a version that crosses the end of one is complete in the next. */
static unsigned search(int fd, char piece[PIECE + 1])
{
	const size_t overlap = sizeof(before) + 8;

	for (uint64_t at = 0; at < FILE_MAX; at += PIECE - overlap) {
		const ssize_t length = pmp_file_pread(fd, piece, PIECE, at);
		const char *found;

		if (length <= 0)
			return 0;
		piece[length] = '\0';
		found = memmem(piece, (size_t)length, before, sizeof(before) - 1);
		if (found)
			return number_at(found + sizeof(before) - 1);
		if (length < PIECE)
			return 0;
	}
	return 0;
}

static bool is_library(const struct pmp_module *module)
{
	const char *base = strrchr(module->path, '/');

	base = base ? base + 1 : module->path;
	return module->kind == PMP_MODULE_FILE && module->fd >= 0 &&
	       (strncmp(base, "libc.so.6", 9) == 0 || strncmp(base, "libc-2.", 7) == 0);
}

unsigned pmp_census_glibc(const struct pmp_maps *maps)
{
	char *piece = malloc(PIECE + 1);
	unsigned version = 0;

	for (size_t i = 0; piece && i < maps->module_count && !version; i++)
		if (is_library(maps->modules[i]))
			version = search(maps->modules[i]->fd, piece);
	free(piece);
	return PMP_FAULT("new-glibc") ? VERSION_MAX - 1 : version;
}
