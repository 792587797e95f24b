/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug sections that a distribution has compressed: half of the time that names of
 * a short run take goes into unpacking libc's. A thread does it while whoever wants
 * them reads symbols, of this file and of others.
 */
#ifndef PMP_RESOLVE_UNPACK_H
#define PMP_RESOLVE_UNPACK_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct pmp_unpacking;

/*
 * Begin to copy what libdw reads of a file, unpacked, into an ELF image. elf, which
 * was opened from fd, is looked at now and not any more; fd is borrowed until the
 * end. Sections that are SHT_NOBITS are left out; the others lie within the file and
 * their unpacked sizes have been checked. NULL, and then libelf can be left to do it,
 * in twice the time: nothing is compressed, not with zlib, damaged, no memory, or
 * built without libdeflate.
 */
struct pmp_unpacking *pmp_unpack_begin(Elf *elf, int fd);
/* Does it have a thread, working or not waited for yet? */
bool pmp_unpack_has_thread(const struct pmp_unpacking *unpacking);
/*
 * Wait for the end; unpacking is freed. The image, which the caller frees, or NULL:
 * damaged, unreadable. Takes NULL.
 */
void *pmp_unpack_end(struct pmp_unpacking *unpacking, size_t *size);
/* It is not wanted any more. Waits until the current section has been unpacked. */
void pmp_unpack_drop(struct pmp_unpacking *unpacking);

#endif
