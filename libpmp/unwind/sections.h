/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the sections of a mapped file by their headers. The process that walks stacks may
 * be privileged, and the file may be malicious: so no library parses it, nothing is
 * decompressed, and only the locations of the bytes are used.
 */
#ifndef PMP_UNWIND_SECTIONS_H
#define PMP_UNWIND_SECTIONS_H

#include <elf.h>
#include <stdbool.h>

#include "unwind/arch.h"

/* Limits for all files of one process together: it may map a malicious one tens of
 * thousands of times. */
struct pmp_section_budget {
	uint64_t kept;	 /* bytes of memory that call-frame information may still take */
	uint64_t search; /* bytes that may still be searched for Go tables */
	size_t work;	 /* incremented by the work done here, in units of
			  * pmp_unwinder_work() */
};

/* Is this the header of a 64-bit little-endian ELF file of that architecture? */
bool pmp_sections_elf(const struct pmp_arch *arch, const Elf64_Ehdr *header);
/* Read the file's header. False: it is not such a file, or its section headers, if any,
 * are not as all linkers make them. */
bool pmp_sections_open(const struct pmp_arch *arch, int fd, Elf64_Ehdr *header);
/* Find the first section, among at most 4096, with one of these names and with its bytes
 * in the file. False: none. Adds the work done to *work, in units of
 * pmp_unwinder_work(). */
bool pmp_sections_find(int fd, const Elf64_Ehdr *header, const char *const names[2],
		       Elf64_Shdr *found, size_t *work);
/* The bytes of a section, malloc'ed. NULL: it is compressed, longer than limit, or not in
 * the file. */
void *pmp_sections_read(int fd, const Elf64_Shdr *section, uint64_t limit);

#endif
