/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacking compressed debug sections, in a thread, while the caller reads the symbols of
 * this file and of others. For a short run, unpacking those of libc takes half of the time
 * of finding names.
 */
#ifndef PMP_RESOLVE_UNPACK_H
#define PMP_RESOLVE_UNPACK_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct pmp_unpacking;

/*
 * Start copying the sections that libdw reads, unpacked, into an ELF image. elf, which was
 * opened from fd, is used only during this call; fd is borrowed until the end. SHT_NOBITS
 * sections are left out; the unpacked sizes of the others must have been checked. NULL:
 * nothing is compressed, or not with zlib, damaged, out of memory, or built without
 * libdeflate; then libelf can do it, in twice the time.
 */
struct pmp_unpacking *pmp_unpack_begin(Elf *elf, int fd);
/* Does it have a thread that has not been joined yet? */
bool pmp_unpack_has_thread(const struct pmp_unpacking *unpacking);
/*
 * Wait for the end and free unpacking. Returns the image, which the caller frees; NULL:
 * damaged or unreadable. Takes NULL.
 */
void *pmp_unpack_end(struct pmp_unpacking *unpacking, size_t *size);
/* Cancel it and free unpacking. Waits until the current section has been unpacked. Takes
 * NULL. */
void pmp_unpack_drop(struct pmp_unpacking *unpacking);

#endif
