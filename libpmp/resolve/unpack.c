/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image: a header, the sections one after the other, the names of sections as
 * they were, the table of sections.
 */
#include "resolve/unpack.h"

#ifdef HAVE_LIBDEFLATE

#include <gelf.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16		      /* of a section in the image */
#define IMAGE_MAX ((uint64_t)5 << 30) /* somewhat more than elf.c lets pass */

struct image {
	Elf *elf;
	char *data; /* NULL while its size is found out */
	uint64_t used;
	Elf64_Shdr *headers; /* within data */
	size_t count;	     /* of sections */
	size_t names;	     /* index of the names of sections */
	bool packed;	     /* something is */
	struct libdeflate_decompressor *decompressor;
};

static bool wanted(const struct image *image, Elf_Scn *section, const GElf_Shdr *header,
		   size_t names)
{
	const char *name = elf_strptr(image->elf, names, header->sh_name);

	return name && header->sh_type != SHT_NOBITS && header->sh_size != 0 &&
	       (strncmp(name, ".debug_", 7) == 0 ||
		strcmp(name, ".gnu_debugaltlink") == 0 || elf_ndxscn(section) == names);
}

/* Split units are looked for beside the file, which an image has not got. */
static bool fit(const struct image *image, const GElf_Shdr *header, size_t names)
{
	const char *name = elf_strptr(image->elf, names, header->sh_name);

	return name && strncmp(name, ".zdebug_", 8) != 0 &&
	       strcmp(name, ".debug_addr") != 0;
}

/* The size of a section's contents; UINT64_MAX: cannot. */
static uint64_t unpacked_size(struct image *image, Elf_Scn *section,
			      const GElf_Shdr *header)
{
	GElf_Chdr packed;

	if (!(header->sh_flags & SHF_COMPRESSED))
		return header->sh_size;
	if (!gelf_getchdr(section, &packed) || packed.ch_type != ELFCOMPRESS_ZLIB)
		return UINT64_MAX;
	image->packed = true;
	return packed.ch_size;
}

static bool copy(struct image *image, Elf_Scn *section, const GElf_Shdr *header,
		 uint64_t size)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	char *to = image->data + image->used;

	image->headers[image->count] = (Elf64_Shdr){
		.sh_name = header->sh_name,
		.sh_type = header->sh_type,
		.sh_offset = image->used,
		.sh_size = size,
		.sh_addralign = 1,
	};
	if (!data || !data->d_buf)
		return false;
	if (header->sh_flags & SHF_COMPRESSED)
		return data->d_size > sizeof(Elf64_Chdr) &&
		       libdeflate_zlib_decompress(image->decompressor,
						  (char *)data->d_buf +
							  sizeof(Elf64_Chdr),
						  data->d_size - sizeof(Elf64_Chdr), to,
						  size, NULL) == LIBDEFLATE_SUCCESS;
	if (data->d_size != size)
		return false;
	memcpy(to, data->d_buf, size);
	return true;
}

/* Put a section's contents, or at first only their size, into the image. */
static bool put(struct image *image, Elf_Scn *section, const GElf_Shdr *header)
{
	uint64_t size = unpacked_size(image, section, header);

	if (size > IMAGE_MAX - image->used ||
	    (image->data && !copy(image, section, header, size)))
		return false;
	image->used += (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	return true;
}

static bool put_all(struct image *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	image->used = sizeof(Elf64_Ehdr);
	image->count = 1; /* the empty one */
	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, &header) || !fit(image, &header, names))
			return false;
		if (!wanted(image, section, &header, names))
			continue;
		if (!put(image, section, &header))
			return false;
		if (elf_ndxscn(section) == names)
			image->names = image->count;
		image->count++;
	}
	return image->names != 0;
}

static bool put_header(struct image *image, size_t table)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(image->elf, &header))
		return false;
	header.e_phoff = 0;
	header.e_phnum = 0;
	header.e_shoff = table;
	header.e_shnum = (uint16_t)image->count;
	header.e_shstrndx = (uint16_t)image->names;
	memcpy(image->data, &header, sizeof(header));
	return true;
}

void *pmp_unpack_debug(Elf *elf, size_t *size)
{
	struct image image = { .elf = elf };
	uint64_t table;
	bool fine = false;

	*size = 0;
	if (!put_all(&image) || !image.packed)
		return NULL;
	table = image.used;
	image.data = calloc(1, table + image.count * sizeof(*image.headers));
	image.decompressor = libdeflate_alloc_decompressor();
	if (image.data && image.decompressor) {
		image.headers = (Elf64_Shdr *)(void *)(image.data + table);
		fine = put_all(&image) && image.used == table &&
		       put_header(&image, table);
	}
	if (image.decompressor)
		libdeflate_free_decompressor(image.decompressor);
	if (!fine) {
		free(image.data);
		return NULL;
	}
	*size = table + image.count * sizeof(*image.headers);
	return image.data;
}

#else

void *pmp_unpack_debug(Elf *elf, size_t *size)
{
	(void)elf;
	*size = 0;
	return NULL;
}

#endif
