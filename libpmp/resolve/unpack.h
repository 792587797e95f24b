/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug sections that a distribution has compressed: most of the time that names
 * of a short run take goes into unpacking libc's.
 */
#ifndef PMP_RESOLVE_UNPACK_H
#define PMP_RESOLVE_UNPACK_H

#include <libelf.h>
#include <stddef.h>

/*
 * Copy what libdw reads of a file, unpacked, into an ELF image of its own, which
 * the caller frees after its last use. Sections that are SHT_NOBITS are left out;
 * the others' sizes have been checked. NULL, and then libelf can be left to do it,
 * in twice the time: nothing is compressed, not with zlib, damaged, no memory, or
 * built without libdeflate.
 */
void *pmp_unpack_debug(Elf *elf, size_t *size);

#endif
