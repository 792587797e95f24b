/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image: a header, the sections one after the other, among them the names of
 * sections, unchanged, and the table of sections. All but the contents is made
 * before the thread starts, which reads and unpacks, but allocates nothing.
 */
#include "resolve/unpack.h"

#ifdef HAVE_LIBDEFLATE

#include <gelf.h>
#include <libdeflate.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"

#define ALIGNMENT 16		       /* of a section in the image */
#define IMAGE_MAX ((uint64_t)5 << 30)  /* a bit more than DEBUG_MAX in elf.c */
#define THREAD_MIN ((size_t)256 << 10) /* image size from which a thread pays */

/* A section to be put into the image. */
struct image_section {
	uint64_t offset, length; /* in the file, without the compression header */
	uint64_t at, size;	 /* in the image */
	uint32_t name, type;
	bool packed;
};

struct pmp_unpacking {
	struct image_section *pieces;
	size_t count, capacity;
	size_t names;  /* which piece holds the names of sections */
	uint64_t used; /* bytes of the image, header and pieces */
	uint64_t most; /* length of the longest packed piece */
	int fd;
	uint64_t length; /* of the file */
	char *image, *input;
	size_t size;
	struct libdeflate_decompressor *decompressor;
	pthread_t thread;
	bool started;
	bool fine; /* the result, valid when the thread has ended */
	atomic_bool dropped;
};

/* ---- what there is to do ------------------------------------------------- */

static bool is_debug(const char *name)
{
	return strncmp(name, ".debug_", 7) == 0;
}

static bool wanted(const char *name, const GElf_Shdr *header)
{
	return header->sh_type != SHT_NOBITS && header->sh_size != 0 &&
	       (is_debug(name) || strcmp(name, ".gnu_debugaltlink") == 0);
}

/* Not with split units, which are looked for beside the file: an image has no path. */
static bool fit(const char *name)
{
	return strncmp(name, ".zdebug_", 8) != 0 && strcmp(name, ".debug_addr") != 0;
}

/* The unpacked sizes of debug sections have been checked (elf.c), those of others have not:
 * these must not be compressed. */
static bool is_sound(const struct pmp_unpacking *unpacking, const char *name,
		     const GElf_Shdr *header)
{
	return header->sh_size <= unpacking->length &&
	       header->sh_offset <= unpacking->length - header->sh_size &&
	       (is_debug(name) || !(header->sh_flags & SHF_COMPRESSED));
}

/* Find out where a section's contents are and how large they become. */
static bool measure(int fd, const GElf_Shdr *header, struct image_section *piece)
{
	Elf64_Chdr packed;

	*piece = (struct image_section){
		.offset = header->sh_offset,
		.length = header->sh_size,
		.size = header->sh_size,
		.name = header->sh_name,
		.type = header->sh_type,
		.packed = header->sh_flags & SHF_COMPRESSED,
	};
	if (!piece->packed)
		return true;
	/* libelf would read the whole section for this. */
	if (piece->length <= sizeof(packed) ||
	    pmp_file_pread(fd, &packed, sizeof(packed), piece->offset) !=
		    sizeof(packed) ||
	    packed.ch_type != ELFCOMPRESS_ZLIB)
		return false;
	piece->offset += sizeof(packed);
	piece->length -= sizeof(packed);
	piece->size = packed.ch_size;
	return true;
}

static bool add_piece(struct pmp_unpacking *unpacking, struct image_section *piece)
{
	if (piece->size > IMAGE_MAX - unpacking->used ||
	    PMP_RESERVE(&unpacking->pieces, &unpacking->capacity, unpacking->count + 1))
		return false;
	piece->at = unpacking->used;
	unpacking->used += (piece->size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	if (piece->packed && piece->length > unpacking->most)
		unpacking->most = piece->length;
	unpacking->pieces[unpacking->count++] = *piece;
	return true;
}

static bool list_pieces(struct pmp_unpacking *unpacking, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	unpacking->used = sizeof(Elf64_Ehdr);
	unpacking->names = SIZE_MAX;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;
		struct image_section piece;

		if (!gelf_getshdr(section, &header))
			return false;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || !fit(name))
			return false;
		if (elf_ndxscn(section) == names)
			unpacking->names = unpacking->count;
		else if (!wanted(name, &header))
			continue;
		if (!is_sound(unpacking, name, &header) ||
		    !measure(unpacking->fd, &header, &piece) ||
		    !add_piece(unpacking, &piece))
			return false;
	}
	return unpacking->names != SIZE_MAX && unpacking->most > 0;
}

/* ---- the image ----------------------------------------------------------- */

static bool make_image(struct pmp_unpacking *unpacking, Elf *elf)
{
	Elf64_Shdr *table;
	GElf_Ehdr header;

	unpacking->size = unpacking->used + (unpacking->count + 1) * sizeof(*table);
	unpacking->image = malloc(unpacking->size);
	unpacking->input = malloc(unpacking->most);
	unpacking->decompressor = libdeflate_alloc_decompressor();
	if (!unpacking->image || !unpacking->input || !unpacking->decompressor ||
	    !gelf_getehdr(elf, &header))
		return false;
	header.e_phoff = 0;
	header.e_phnum = 0;
	header.e_shoff = unpacking->used;
	header.e_shnum = (uint16_t)(unpacking->count + 1);
	header.e_shstrndx = (uint16_t)(unpacking->names + 1);
	memcpy(unpacking->image, &header, sizeof(header));
	table = (Elf64_Shdr *)(void *)(unpacking->image + unpacking->used);
	table[0] = (Elf64_Shdr){ 0 };
	for (size_t i = 0; i < unpacking->count; i++) {
		const struct image_section *piece = &unpacking->pieces[i];

		table[i + 1] = (Elf64_Shdr){
			.sh_name = piece->name,
			.sh_type = piece->type,
			.sh_offset = piece->at,
			.sh_size = piece->size,
			.sh_addralign = 1,
		};
	}
	return true;
}

static bool unpack(const struct pmp_unpacking *unpacking,
		   const struct image_section *piece)
{
	char *image = unpacking->image + piece->at;
	char *to = piece->packed ? unpacking->input : image;

	if (pmp_file_pread(unpacking->fd, to, piece->length, piece->offset) !=
	    (ssize_t)piece->length)
		return false;
	return !piece->packed ||
	       libdeflate_zlib_decompress(unpacking->decompressor, to, piece->length,
					  image, piece->size, NULL) == LIBDEFLATE_SUCCESS;
}

static void *run(void *arg)
{
	struct pmp_unpacking *unpacking = arg;
	bool fine = true;

	for (size_t i = 0; i < unpacking->count && fine; i++)
		fine = !atomic_load(&unpacking->dropped) &&
		       unpack(unpacking, &unpacking->pieces[i]);
	unpacking->fine = fine;
	return NULL;
}

/* Block signals in the thread, except those of faults. */
static void start(struct pmp_unpacking *unpacking)
{
	sigset_t all, old;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	unpacking->started =
		pthread_create(&unpacking->thread, NULL, run, unpacking) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Free everything, when the thread has ended. */
static void free_all(struct pmp_unpacking *unpacking)
{
	if (unpacking->decompressor)
		libdeflate_free_decompressor(unpacking->decompressor);
	free(unpacking->input);
	free(unpacking->image);
	free(unpacking->pieces);
	free(unpacking);
}

struct pmp_unpacking *pmp_unpack_begin(Elf *elf, int fd)
{
	struct pmp_unpacking *unpacking;
	struct stat file;

	if (fd < 0 || fstat(fd, &file) < 0)
		return NULL;
	unpacking = calloc(1, sizeof(*unpacking));
	if (!unpacking)
		return NULL;
	unpacking->fd = fd;
	unpacking->length = (uint64_t)file.st_size;
	if (!list_pieces(unpacking, elf) || !make_image(unpacking, elf)) {
		free_all(unpacking);
		return NULL;
	}
	if (unpacking->size >= THREAD_MIN)
		start(unpacking);
	return unpacking;
}

bool pmp_unpack_has_thread(const struct pmp_unpacking *unpacking)
{
	return unpacking && unpacking->started;
}

void *pmp_unpack_end(struct pmp_unpacking *unpacking, size_t *size)
{
	void *image = NULL;

	*size = 0;
	if (!unpacking)
		return NULL;
	if (unpacking->started)
		pthread_join(unpacking->thread, NULL);
	else
		run(unpacking);
	if (unpacking->fine) {
		*size = unpacking->size;
		image = unpacking->image;
		unpacking->image = NULL;
	}
	free_all(unpacking);
	return image;
}

void pmp_unpack_drop(struct pmp_unpacking *unpacking)
{
	if (!unpacking)
		return;
	atomic_store(&unpacking->dropped, true);
	if (unpacking->started)
		pthread_join(unpacking->thread, NULL);
	free_all(unpacking);
}

#else

struct pmp_unpacking *pmp_unpack_begin(Elf *elf, int fd)
{
	(void)elf;
	(void)fd;
	return NULL;
}

bool pmp_unpack_has_thread(const struct pmp_unpacking *unpacking)
{
	(void)unpacking;
	return false;
}

void *pmp_unpack_end(struct pmp_unpacking *unpacking, size_t *size)
{
	(void)unpacking;
	*size = 0;
	return NULL;
}

void pmp_unpack_drop(struct pmp_unpacking *unpacking)
{
	(void)unpacking;
}

#endif
