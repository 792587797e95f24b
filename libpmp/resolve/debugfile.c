/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking for debug files. Whatever lies at a candidate's path, it is opened only if it
 * is a regular file; it, and what is fetched, must belong to a user we trust,
 * and must prove that it belongs to the module.
 */
#include "resolve/debugfile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

#define CHECKSUM_MAX ((uint64_t)4 << 30) /* bytes of a file to check */
#define UNPACKED_MAX ((size_t)256 << 20) /* of .gnu_debugdata */
#define LZMA_MEMORY_MAX ((uint64_t)128 << 20)
#define CHUNK 65536

static bool has_build_id(const struct pmp_elf *file, const unsigned char *id, size_t size)
{
	return size && file->build_id_size == size &&
	       memcmp(file->build_id, id, size) == 0;
}

/* Takes fd over. NULL, or why the file is not used. */
static const char *take_candidate(int fd, const struct pmp_debug_place *place,
				  struct pmp_elf *file)
{
	const char *problem;
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		problem = "not a regular file";
	else if (!pmp_file_is_of(&status, place->owner))
		problem = "belongs to another user";
	else
		problem = pmp_elf_open(file, fd);
	if (problem)
		close(fd);
	else
		file->fd = fd;
	return problem;
}

static bool open_candidate(struct pmp_buf *path, const struct pmp_debug_place *place,
			   struct pmp_elf *file)
{
	const char *problem = "not enough memory";
	int fd = -1;

	*file = (struct pmp_elf)PMP_ELF_EMPTY;
	if (!pmp_buf_failed(path)) {
		fd = pmp_file_open_regular(path->data);
		problem = fd == -EINVAL ? "not a regular file"
			  : fd < 0	? strerror(-fd)
					: take_candidate(fd, place, file);
	}
	PMP_LOG(place->log, "debug", "%s: %s", path->data ? path->data : "?",
		problem ? problem : "opened");
	return !problem;
}

/* The debug file of a build-id, fetched. */
static bool fetch_candidate(const unsigned char *id, size_t size,
			    const struct pmp_debug_place *place, struct pmp_elf *file)
{
	int fd = pmp_fetch_debug(&place->fetch, id, size, place->path);
	const char *problem;

	*file = (struct pmp_elf)PMP_ELF_EMPTY;
	if (fd < 0)
		return false;
	problem = take_candidate(fd, place, file);
	if (!problem && !has_build_id(file, id, size)) {
		pmp_elf_close(file);
		problem = "another build-id";
	}
	PMP_LOG(place->log, "debug", "%s: fetched: %s", place->path,
		problem ? problem : "opened");
	return !problem;
}

/* The next of the directories in *list, into path. False: there is none. */
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

static void add_build_id(struct pmp_buf *path, const unsigned char *id, size_t size)
{
	pmp_buf_printf(path, "/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < size; i++)
		pmp_buf_printf(path, "%02x", id[i]);
	pmp_buf_puts(path, ".debug");
}

/* The length of a path up to its last slash, without it. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* The sum that .gnu_debuglink has over the whole file, in proportion to what of it is on
 * disk: a hole costs nothing to make. */
static bool checksum(const struct pmp_elf *file, struct pmp_budget *budget, uint32_t *sum)
{
	const uint64_t size = file->size;

	unsigned char *chunk = malloc(CHUNK);
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;

	if (size > CHECKSUM_MAX || size > file->most || size > budget->bytes) {
		free(chunk);
		return false;
	}
	budget->bytes -= size;
	while (chunk && at < size) {
		ssize_t got = pmp_file_pread(file->fd, chunk, CHUNK, at);

		if (got <= 0)
			break;
		crc = crc32(crc, chunk, (uInt)got);
		at += (uint64_t)got;
	}
	free(chunk);
	*sum = (uint32_t)crc;
	return at == size;
}

/* A debug file that we found by its name: is it the module's? */
static bool belongs(const struct pmp_elf *module, const struct pmp_elf *debug,
		    struct pmp_budget *budget, uint32_t sum)
{
	uint32_t found;

	if (module->build_id_size)
		return pmp_elf_same_build(module, debug);
	return checksum(debug, budget, &found) && found == sum;
}

/* .gnu_debuglink: a file name, zeros up to a multiple of four, a checksum. */
static const char *read_link(const struct pmp_elf *module, uint32_t *sum)
{
	GElf_Shdr header;
	Elf_Scn *section = pmp_elf_section(module, ".gnu_debuglink", &header);
	const Elf_Data *data = section ? pmp_elf_data(module, section) : NULL;
	const char *name = data ? data->d_buf : NULL;
	size_t length = data ? strnlen(data->d_buf, data->d_size) : 0;
	size_t at = (length + 1 + 3) & ~(size_t)3;

	if (!name || length == 0 || length > NAME_MAX || strchr(name, '/') ||
	    data->d_size < sizeof(*sum) || at > data->d_size - sizeof(*sum))
		return NULL;
	memcpy(sum, name + at, sizeof(*sum));
	return name;
}

static bool find_by_build_id(const struct pmp_elf *module,
			     const struct pmp_debug_place *place, struct pmp_buf *path,
			     struct pmp_elf *debug)
{
	const char *list = place->debug_dir;

	while (module->build_id_size >= 2 && next_directory(&list, path)) {
		add_build_id(path, module->build_id, module->build_id_size);
		if (!open_candidate(path, place, debug))
			continue;
		if (pmp_elf_same_build(module, debug))
			return true;
		PMP_LOG(place->log, "debug", "%s: another build-id", path->data);
		pmp_elf_close(debug);
	}
	return false;
}

/* What .gnu_debuglink names, in a directory that is in path already. */
static bool open_link(const struct pmp_elf *module, const struct pmp_debug_place *place,
		      struct pmp_buf *path, struct pmp_elf *debug)
{
	uint32_t sum = 0;
	const char *name = read_link(module, &sum);

	pmp_buf_printf(path, "/%s", name ? name : "");
	if (!name || !open_candidate(path, place, debug))
		return false;
	if (belongs(module, debug, place->budget, sum))
		return true;
	PMP_LOG(place->log, "debug", "%s: of another build", path->data);
	pmp_elf_close(debug);
	return false;
}

static bool find_by_link(const struct pmp_elf *module,
			 const struct pmp_debug_place *place, struct pmp_buf *path,
			 struct pmp_elf *debug)
{
	const size_t length = directory_length(place->path);
	const char *list = place->debug_dir;

	if (place->path[0] != '/')
		return false;
	pmp_buf_clear(path);
	pmp_buf_add(path, place->path, length);
	if (open_link(module, place, path, debug))
		return true;
	pmp_buf_clear(path);
	pmp_buf_add(path, place->path, length);
	pmp_buf_puts(path, "/.debug");
	if (open_link(module, place, path, debug))
		return true;
	while (next_directory(&list, path)) {
		pmp_buf_add(path, place->path, length);
		if (open_link(module, place, path, debug))
			return true;
	}
	return false;
}

bool pmp_debugfile_find(const struct pmp_elf *module, const struct pmp_debug_place *place,
			struct pmp_buf *path, struct pmp_elf *debug)
{
	*debug = (struct pmp_elf)PMP_ELF_EMPTY;
	return find_by_build_id(module, place, path, debug) ||
	       find_by_link(module, place, path, debug);
}

bool pmp_debugfile_fetch(const struct pmp_elf *module,
			 const struct pmp_debug_place *place, struct pmp_elf *debug)
{
	return fetch_candidate(module->build_id, module->build_id_size, place, debug);
}

/* Unpack into *out, malloc'ed. Ends at the end of the first stream. */
static bool unpack_xz(const Elf_Data *data, unsigned char **out, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t capacity = 0;
	lzma_ret rc = lzma_stream_decoder(&stream, LZMA_MEMORY_MAX, 0);

	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	while (rc == LZMA_OK && stream.total_out < UNPACKED_MAX) {
		if (PMP_RESERVE(out, &capacity, stream.total_out + CHUNK))
			break;
		stream.next_out = *out + stream.total_out;
		stream.avail_out = capacity - stream.total_out;
		rc = lzma_code(&stream, LZMA_FINISH);
	}
	*size = stream.total_out;
	lzma_end(&stream);
	return rc == LZMA_STREAM_END;
}

bool pmp_debugfile_unpack(const struct pmp_elf *module, struct pmp_elf *mini)
{
	GElf_Shdr header;
	Elf_Scn *section = pmp_elf_section(module, ".gnu_debugdata", &header);
	const Elf_Data *data = section ? pmp_elf_data(module, section) : NULL;
	unsigned char *image = NULL;
	size_t size = 0;

	*mini = (struct pmp_elf)PMP_ELF_EMPTY;
	if (!data)
		return false;
	if (!unpack_xz(data, &image, &size) || pmp_elf_open_image(mini, image, size)) {
		free(image);
		return false;
	}
	mini->image = image;
	return true;
}

/* Libdw would look for it wherever the file says. */
static bool has_alt(Dwarf *dwarf)
{
	const char *name;
	const void *id;

	return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) != 0;
}

/* path NULL: fetched. */
static bool open_alt(struct pmp_buf *path, const unsigned char *id, size_t size,
		     const struct pmp_debug_place *place, struct pmp_elf *alt)
{
	if (path ? !open_candidate(path, place, alt)
		 : !fetch_candidate(id, size, place, alt))
		return false;
	if (has_build_id(alt, id, size)) {
		pmp_elf_prepare_dwarf(alt, false);
		if (pmp_elf_dwarf(alt) && !has_alt(alt->dwarf))
			return true;
	}
	pmp_elf_close(alt);
	return false;
}

/* Is an absolute path below one of the directories in list, without a way out? */
static bool is_below(const char *path, const char *list)
{
	struct pmp_buf directory = { 0 };
	bool below = false;

	while (!below && next_directory(&list, &directory)) {
		size_t length = pmp_buf_failed(&directory) ? 0 : directory.length;

		while (length && directory.data[length - 1] == '/')
			length--;
		below = length && strncmp(path, directory.data, length) == 0 &&
			path[length] == '/';
	}
	pmp_buf_free(&directory);
	return below && !strstr(path, "/../");
}

/*
 * The path that .gnu_debugaltlink names: beside the file, or absolute. False: it leads
 * where no debug information belongs.
 */
static bool name_alt(const char *name, const char *path,
		     const struct pmp_debug_place *place, struct pmp_buf *candidate)
{
	pmp_buf_clear(candidate);
	if (name[0] == '/' && !is_below(name, place->debug_dir)) {
		PMP_LOG(place->log, "debug", "%s: not below %s", name, place->debug_dir);
		return false;
	}
	if (name[0] != '/' && strchr(path, '/'))
		pmp_buf_printf(candidate, "%.*s/", (int)directory_length(path), path);
	pmp_buf_puts(candidate, name);
	return true;
}

bool pmp_debugfile_alt(struct pmp_elf *file, const char *path,
		       const struct pmp_debug_place *place, struct pmp_elf *alt)
{
	Dwarf *dwarf = file->dwarf;
	struct pmp_buf candidate = { 0 };
	const char *list = place->debug_dir, *name;
	const void *id;
	ssize_t size;
	bool found = false;

	*alt = (struct pmp_elf)PMP_ELF_EMPTY;
	size = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : 0;
	if (size == 0)
		return true;
	if (size < 2 || size > PMP_BUILD_ID_SIZE)
		return false;
	while (!found && next_directory(&list, &candidate)) {
		add_build_id(&candidate, id, (size_t)size);
		found = open_alt(&candidate, id, (size_t)size, place, alt);
	}
	if (!found && name_alt(name, path, place, &candidate))
		found = open_alt(&candidate, id, (size_t)size, place, alt);
	if (!found)
		found = open_alt(NULL, id, (size_t)size, place, alt);
	if (found)
		dwarf_setalt(dwarf, alt->dwarf);
	pmp_buf_free(&candidate);
	return found;
}
