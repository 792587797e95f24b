/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A build-id comes from a target's file or a saved profile, and becomes part of a path and
 * a URL, so only valid ones are passed on.
 */
#include "resolve/fetch.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolve/elf.h"

static bool is_build_id(const char *text)
{
	size_t length = strlen(text);

	return length >= 4 && length <= (size_t)2 * PMP_BUILD_ID_SIZE &&
	       length % 2 == 0 && strspn(text, "0123456789abcdef") == length;
}

int pmp_fetch_file(const struct pmp_fetch *fetch, const char *build_id, const char *path,
		   bool executable)
{
	const struct pmp_wanted_file wanted = {
		.size = sizeof(wanted),
		.build_id = build_id,
		.path = path,
		.executable = executable,
	};
	struct stat status;
	int fd = -1;

	if (fetch->get && is_build_id(build_id))
		fd = fetch->get(fetch->arg, &wanted);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return -1;
}

int pmp_fetch_debug(const struct pmp_fetch *fetch, const unsigned char *id, size_t size,
		    const char *path)
{
	char text[PMP_BUILD_ID_TEXT];

	pmp_elf_build_id_text(id, size, text);
	return pmp_fetch_file(fetch, text, path, false);
}
