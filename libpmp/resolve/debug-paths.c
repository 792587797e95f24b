/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See debug-paths.h. */
#include "resolve/debug-paths.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* Put the next directory of *list into path. False: there is none. */
static bool next_directory(const char **list, struct pmp_buf *path)
{
	size_t length;

	*list += strspn(*list, ":");
	length = strcspn(*list, ":");
	pmp_buf_clear(path);
	pmp_buf_add(path, *list, length);
	*list += length;
	return length > 0;
}

static bool directory_at(const char *list, unsigned number, struct pmp_buf *path)
{
	for (unsigned i = 0; next_directory(&list, path); i++)
		if (i == number)
			return true;
	return false;
}

/* The length of a path before its last slash. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* The length of the first directory in list that a path is below; 0: of none. */
static size_t given_length(const char *path, const char *list)
{
	struct pmp_buf directory = { 0 };
	size_t given = 0;

	while (!given && next_directory(&list, &directory)) {
		size_t length = pmp_buf_failed(&directory) ? 0 : directory.length;

		while (length && directory.data[length - 1] == '/')
			length--;
		if (length && strncmp(path, directory.data, length) == 0 &&
		    path[length] == '/')
			given = length;
	}
	pmp_buf_free(&directory);
	return given;
}

/* Is an absolute path below one of the directories in list, without leaving it by ".."? */
static bool is_below(const char *path, const char *list)
{
	return given_length(path, list) && !strstr(path, "/../");
}

/* ---- one kind each: set *path to the candidate's; 0 or a negative errno ------------ */

static int by_id(const struct pmp_debug_place *place,
		 const struct pmp_debug_question *question, struct pmp_buf *path)
{
	if (question->id_size < 2 ||
	    !directory_at(place->debug_dir, question->number, path))
		return -ENODATA;
	pmp_buf_printf(path, "/.build-id/%02x/", question->id[0]);
	for (size_t i = 1; i < question->id_size; i++)
		pmp_buf_printf(path, "%02x", question->id[i]);
	pmp_buf_puts(path, ".debug");
	return 0;
}

/* In the module's directory, in .debug there, or in that directory below each of
 * debug_dir. */
static int by_link(const struct pmp_debug_place *place,
		   const struct pmp_debug_question *question, struct pmp_buf *path)
{
	const size_t length = directory_length(place->path);
	const char *name = question->name;

	if (place->path[0] != '/' || !name || !*name || strlen(name) > NAME_MAX ||
	    strchr(name, '/'))
		return -ENODATA;
	pmp_buf_clear(path);
	if (question->number > 1 &&
	    !directory_at(place->debug_dir, question->number - 2, path))
		return -ENODATA;
	pmp_buf_add(path, place->path, length);
	pmp_buf_printf(path, "%s/%s", question->number == 1 ? "/.debug" : "", name);
	return 0;
}

/* Relative to the file that names it, or absolute, but then only below debug_dir. */
static int by_alt(const struct pmp_debug_place *place,
		  const struct pmp_debug_question *question, struct pmp_buf *path)
{
	const char *name = question->name, *beside = question->beside;

	pmp_buf_clear(path);
	if (question->number || !name || !*name)
		return -ENODATA;
	if (name[0] == '/' && !is_below(name, place->debug_dir)) {
		PMP_LOG(place->log, "debug", "%s: not below %s", name, place->debug_dir);
		return -ENODATA;
	}
	if (name[0] != '/' && beside && strchr(beside, '/'))
		pmp_buf_printf(path, "%.*s/", (int)directory_length(beside), beside);
	pmp_buf_puts(path, name);
	return 0;
}

static bool ends_in(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static int by_path(const struct pmp_debug_question *question, struct pmp_buf *path)
{
	const char *name = question->name;

	pmp_buf_clear(path);
	if (question->number || !name || name[0] != '/' ||
	    !(ends_in(name, ".dwo") || ends_in(name, ".dwp")))
		return -ENODATA;
	pmp_buf_puts(path, name);
	return 0;
}

static int find(const struct pmp_debug_place *place,
		const struct pmp_debug_question *question, struct pmp_buf *path)
{
	switch (question->kind) {
	case PMP_DEBUG_ID:
	case PMP_DEBUG_ALT_ID: return by_id(place, question, path);
	case PMP_DEBUG_LINK: return by_link(place, question, path);
	case PMP_DEBUG_ALT: return by_alt(place, question, path);
	case PMP_DEBUG_SPLIT: return by_path(question, path);
	case PMP_DEBUG_FETCH:
	case PMP_DEBUG_KINDS: break;
	}
	return -ENODATA;
}

/* ---- opening ------------------------------------------------------------------------------ */

static int fetch(const struct pmp_debug_place *place,
		 const struct pmp_debug_question *question, struct pmp_buf *path)
{
	int fd = -ENODATA;

	pmp_buf_clear(path);
	if (question->number == 0 && question->id_size)
		fd = pmp_fetch_debug(&place->fetch, question->id, question->id_size,
				     place->path);
	return fd < 0 ? -ENODATA : fd;
}

int pmp_debug_paths_open(const struct pmp_debug_place *place,
			 const struct pmp_debug_question *question, struct pmp_buf *path)
{
	int code;

	if (question->kind == PMP_DEBUG_FETCH)
		return fetch(place, question, path);
	code = find(place, question, path);
	if (code < 0)
		return code;
	if (pmp_buf_failed(path))
		return -ENOMEM;
	code = pmp_file_open_regular(path->data,
				     given_length(path->data, place->debug_dir));
	return code == -ENODATA ? -EIO : code;
}

const char *pmp_debug_paths_refuse(const struct pmp_debug_place *place,
				   enum pmp_debug_kind kind, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return "not a regular file";
	if (kind != PMP_DEBUG_FETCH && !pmp_file_is_of(&status, place->owner))
		return "belongs to another user";
	if (!pmp_file_is_code(fd))
		return "not an ELF file";
	return NULL;
}
