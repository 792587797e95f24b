/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/places.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

/* The directory is what our user has given. */
static int open_in(const char *directory, const char *path)
{
	struct pmp_buf buf = { 0 };
	int fd = -ENOMEM;

	pmp_buf_printf(&buf, "%s%s%s", directory, *directory && *path ? "/" : "", path);
	if (!pmp_buf_failed(&buf))
		fd = pmp_file_open_regular(buf.data, strlen(directory));
	pmp_buf_free(&buf);
	return fd == -ENODATA ? -ENOENT : fd;
}

/* Some distributions have links to programs and libraries in these directories. *place
 * becomes the place after them. */
static int open_by_id(const struct pmp_core_places *places, const char *id,
		      unsigned *place)
{
	char path[PMP_CORE_ID_TEXT + 32], directory[PATH_MAX];
	const char *list = places->debug_dir;

	snprintf(path, sizeof(path), ".build-id/%.2s/%s", id, id + 2);
	while (*list) {
		const size_t length = strcspn(list, ":");

		snprintf(directory, sizeof(directory), "%.*s", (int)length, list);
		if (*directory && !*place)
			return open_in(directory, path);
		if (*directory)
			--*place;
		list += length + (list[length] == ':');
	}
	return -ENODATA;
}

static int fetch(const struct pmp_core_places *places,
		 const struct pmp_core_wanted *wanted)
{
	int fd;

	if (!places->fetch.get || !*wanted->build_id)
		return -ENODATA;
	fd = pmp_fetch_file(&places->fetch, wanted->build_id, wanted->path, true);
	return fd < 0 ? -ENOENT : fd;
}

/* A deleted file is looked up only by its build-id. */
int pmp_core_places_open(const struct pmp_core_places *places,
			 const struct pmp_core_wanted *wanted, unsigned place)
{
	const char *slash = strrchr(wanted->path, '/');
	int fd = -ENODATA;

	if (places->ask)
		return places->ask(places->ask_arg, wanted, place);
	if (places->exe && wanted->program)
		return place ? -ENODATA : open_in(places->exe, "");
	if (places->symfs && *places->symfs) {
		if (place < 2)
			return open_in(places->symfs,
				       place && slash ? slash + 1 : wanted->path);
		place -= 2;
	}
	if (wanted->path[0] == '/' && !wanted->deleted) {
		if (!place)
			return open_in("", wanted->path);
		place--;
	}
	if (strlen(wanted->build_id) >= 4)
		fd = open_by_id(places, wanted->build_id, &place);
	if (fd != -ENODATA)
		return fd;
	return place ? -ENODATA : fetch(places, wanted);
}
