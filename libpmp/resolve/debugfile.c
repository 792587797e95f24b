/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking for debug files. A file found where one may be (debug-paths.c), or fetched, must
 * prove that it belongs to the module; the former must belong to a user we trust.
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

#define CHECKSUM_MAX ((uint64_t)4 << 30) /* of a file, bytes */
#define UNPACKED_MAX ((size_t)256 << 20) /* of .gnu_debugdata */
#define LZMA_MEMORY_MAX ((uint64_t)128 << 20)
#define CHUNK 65536

static bool has_build_id(const struct pmp_elf *file, const unsigned char *id, size_t size)
{
	return size && file->build_id_size == size &&
	       memcmp(file->build_id, id, size) == 0;
}

/* The outcome for a candidate. */
enum candidate {
	NO_MORE, /* there is none, nor one with a higher number */
	UNFIT,
	FITS
};

/* Takes over fd. Returns NULL, or why the file is not used. */
static const char *take_candidate(int fd, const struct pmp_debug_place *place,
				  enum pmp_debug_kind kind, struct pmp_elf *file)
{
	const char *problem = pmp_debug_paths_refuse(place, kind, fd);

	if (!problem)
		problem = pmp_elf_open(file, fd);
	if (problem)
		close(fd);
	else
		file->fd = fd;
	return problem;
}

static enum candidate open_candidate(const struct pmp_debug_place *place,
				     const struct pmp_debug_question *question,
				     struct pmp_buf *path, struct pmp_elf *file)
{
	const char *problem;
	int fd;

	*file = (struct pmp_elf)PMP_ELF_EMPTY;
	if (place->ask)
		fd = place->ask(place->ask_arg, question, path);
	else
		fd = pmp_debug_paths_open(place, question, path);
	if (fd == -ENODATA)
		return NO_MORE;
	problem = fd == -EINVAL ? "not a regular file"
		  : fd < 0	? strerror(-fd)
				: take_candidate(fd, place, question->kind, file);
	PMP_LOG(place->log, "debug", "%s: %s%s",
		path->data && path->length ? path->data : place->path,
		question->kind == PMP_DEBUG_FETCH ? "fetched: " : "",
		problem ? problem : "opened");
	return problem ? UNFIT : FITS;
}

/* Fetch the debug file of a build-id. */
static bool fetch_candidate(const unsigned char *id, size_t size,
			    const struct pmp_debug_place *place, struct pmp_elf *file)
{
	const struct pmp_debug_question question = { .kind = PMP_DEBUG_FETCH,
						     .id = id,
						     .id_size = size };
	struct pmp_buf path = { 0 };
	bool fits = open_candidate(place, &question, &path, file) == FITS;

	if (fits && !has_build_id(file, id, size)) {
		pmp_elf_close(file);
		PMP_LOG(place->log, "debug", "%s: another build-id", place->path);
		fits = false;
	}
	pmp_buf_free(&path);
	return fits;
}

/* The checksum of the whole file, as in .gnu_debuglink. Its size is limited by the space it
 * takes on disk, as holes cost an attacker nothing. */
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

/* Does a debug file that was found by its name belong to the module? */
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
	struct pmp_debug_question question = { .kind = PMP_DEBUG_ID,
					       .id = module->build_id,
					       .id_size = module->build_id_size };
	enum candidate got;

	for (; (got = open_candidate(place, &question, path, debug)) != NO_MORE;
	     question.number++) {
		if (got == UNFIT)
			continue;
		if (pmp_elf_same_build(module, debug))
			return true;
		PMP_LOG(place->log, "debug", "%s: another build-id", path->data);
		pmp_elf_close(debug);
	}
	return false;
}

static bool find_by_link(const struct pmp_elf *module,
			 const struct pmp_debug_place *place, struct pmp_buf *path,
			 struct pmp_elf *debug)
{
	struct pmp_debug_question question = { .kind = PMP_DEBUG_LINK };
	enum candidate got;
	uint32_t sum = 0;

	question.name = read_link(module, &sum);
	if (!question.name)
		return false;
	for (; (got = open_candidate(place, &question, path, debug)) != NO_MORE;
	     question.number++) {
		if (got == UNFIT)
			continue;
		if (belongs(module, debug, place->budget, sum))
			return true;
		PMP_LOG(place->log, "debug", "%s: of another build", path->data);
		pmp_elf_close(debug);
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

/* Unpack the first stream into *out, which is malloc'ed. */
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

/* Does it refer to yet another file? libdw would look for that wherever the file says. */
static bool has_alt(Dwarf *dwarf)
{
	const char *name;
	const void *id;

	return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) != 0;
}

static bool fits_alt(struct pmp_elf *alt, const unsigned char *id, size_t size)
{
	if (has_build_id(alt, id, size)) {
		pmp_elf_prepare_dwarf(alt, false);
		if (pmp_elf_dwarf(alt) && !has_alt(alt->dwarf))
			return true;
	}
	pmp_elf_close(alt);
	return false;
}

static bool find_alt(const struct pmp_debug_place *place,
		     struct pmp_debug_question question, struct pmp_elf *alt)
{
	struct pmp_buf path = { 0 };
	enum candidate got = UNFIT;
	bool found = false;

	for (; !found && got != NO_MORE; question.number++) {
		got = open_candidate(place, &question, &path, alt);
		found = got == FITS && fits_alt(alt, question.id, question.id_size);
	}
	pmp_buf_free(&path);
	return found;
}

bool pmp_debugfile_alt(struct pmp_elf *file, const char *path,
		       const struct pmp_debug_place *place, struct pmp_elf *alt)
{
	Dwarf *dwarf = file->dwarf;
	struct pmp_debug_question question = { .kind = PMP_DEBUG_ALT_ID, .beside = path };
	const void *id;
	ssize_t size;
	bool found;

	*alt = (struct pmp_elf)PMP_ELF_EMPTY;
	size = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &question.name, &id) : 0;
	if (size == 0)
		return true;
	if (size < 2 || size > PMP_BUILD_ID_SIZE)
		return false;
	question.id = id;
	question.id_size = (size_t)size;
	found = find_alt(place, question, alt);
	if (!found) {
		question.kind = PMP_DEBUG_ALT;
		found = find_alt(place, question, alt);
	}
	if (!found)
		found = fetch_candidate(id, (size_t)size, place, alt) &&
			fits_alt(alt, id, (size_t)size);
	if (found)
		dwarf_setalt(dwarf, alt->dwarf);
	return found;
}
