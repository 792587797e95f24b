/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sections.h. The file may be truncated at any time, so it is read, never mapped. */
#include "unwind/sections.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define NAMES_MAX (64u << 10) /* bytes of section names */
#define AT_ONCE 32	      /* headers per read */
#define HEADERS_MAX 4096u     /* few programs and libraries have 100 */
/* Measured cost, in bytes of executed programs: a header; bytes of names per unit. */
#define HEADER_WORK 4
#define NAMES_WORK 16

bool pmp_sections_elf(const struct pmp_arch *arch, const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == arch->elf_machine;
}

bool pmp_sections_open(const struct pmp_arch *arch, int fd, Elf64_Ehdr *header)
{
	return fd >= 0 && pmp_file_read_at(fd, 0, header, sizeof(*header)) &&
	       pmp_sections_elf(arch, header) && header->e_shoff < INT64_MAX / 2 &&
	       (!header->e_shnum || header->e_shentsize == sizeof(Elf64_Shdr));
}

/* All names, the last one NUL-terminated; or NULL. */
static char *read_names(int fd, const Elf64_Ehdr *header, size_t *size)
{
	Elf64_Shdr section;
	char *names;

	if (!pmp_file_read_at(fd, header->e_shoff + header->e_shstrndx * sizeof(section),
			      &section, sizeof(section)))
		return NULL;
	*size = section.sh_size;
	names = pmp_sections_read(fd, &section, NAMES_MAX);
	if (names && names[*size - 1] == '\0')
		return names;
	free(names);
	return NULL;
}

static bool is_named(const Elf64_Shdr *section, const char *texts, size_t size,
		     const char *const names[2])
{
	return section->sh_type != SHT_NOBITS && section->sh_name < size &&
	       (strcmp(texts + section->sh_name, names[0]) == 0 ||
		(names[1] && strcmp(texts + section->sh_name, names[1]) == 0));
}

bool pmp_sections_find(int fd, const Elf64_Ehdr *header, const char *const names[2],
		       Elf64_Shdr *found, size_t *work)
{
	Elf64_Shdr sections[AT_ONCE];
	size_t size, n;
	size_t count = header->e_shnum < HEADERS_MAX ? header->e_shnum : HEADERS_MAX;
	char *texts = count ? read_names(fd, header, &size) : NULL;
	bool is_found = false;

	*work += texts ? size / NAMES_WORK : 0;
	for (size_t first = 0; texts && first < count && !is_found; first += n) {
		n = count - first < AT_ONCE ? count - first : AT_ONCE;
		if (!pmp_file_read_at(fd, header->e_shoff + first * sizeof(*sections),
				      sections, n * sizeof(*sections)))
			break;
		for (size_t i = 0; i < n && !is_found; i++) {
			is_found = is_named(&sections[i], texts, size, names);
			*found = sections[i];
		}
		*work += n * HEADER_WORK;
	}
	free(texts);
	return is_found;
}

void *pmp_sections_read(int fd, const Elf64_Shdr *section, uint64_t limit)
{
	void *data;

	if (!section->sh_size || section->sh_size > limit ||
	    section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
		return NULL;
	data = malloc(section->sh_size);
	if (data && pmp_file_read_at(fd, section->sh_offset, data, section->sh_size))
		return data;
	free(data);
	return NULL;
}
