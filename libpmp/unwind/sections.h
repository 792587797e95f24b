/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sections of a mapped file, by their headers. Whoever walks stacks may have the rights
 * of root, and the file may have been made to harm: no library parses it, nothing is
 * unpacked, and nothing is believed but where the bytes are.
 */
#ifndef PMP_UNWIND_SECTIONS_H
#define PMP_UNWIND_SECTIONS_H

#include <elf.h>
#include <stdbool.h>

#include "unwind/arch.h"

/* What the files of one process may take, all together: it may map one that was made to harm
 * tens of thousands of times. */
struct pmp_section_budget {
	uint64_t kept;	 /* bytes of memory that call-frame information may still take */
	uint64_t search; /* bytes that may still be searched for tables of Go */
	size_t work; /* grows by what is done here, as pmp_unwinder_work() counts it */
};

/* Is this the beginning of an ELF file of that architecture, 64-bit and little-endian? */
bool pmp_sections_elf(const struct pmp_arch *arch, const Elf64_Ehdr *header);
/* The first bytes of the file. False: it is no such file, or its section headers, if it has
 * any, are not as all linkers make them. */
bool pmp_sections_open(const struct pmp_arch *arch, int fd, Elf64_Ehdr *header);
/* The first section with one of these names whose bytes are in the file, of 4096 at most.
 * False: none. *work grows by what that takes, as pmp_unwinder_work() counts it. */
bool pmp_sections_find(int fd, const Elf64_Ehdr *header, const char *const names[2],
		       Elf64_Shdr *found, size_t *work);
/* Its bytes, malloc'ed. NULL: it is compressed, longer than limit, or not in the file. */
void *pmp_sections_read(int fd, const Elf64_Shdr *section, uint64_t limit);

#endif
