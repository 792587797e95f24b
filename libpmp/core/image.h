/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The headers of an ELF program or library, in memory or in its file: its build-id, and
 * which parts of the file are code. */
#ifndef PMP_CORE_IMAGE_H
#define PMP_CORE_IMAGE_H

#include "base/reader.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_CORE_PARTS_MAX 64
#define PMP_CORE_ID_MAX 64
#define PMP_CORE_GO_ID_MAX 128
#define PMP_CORE_IMAGE_WORK_MAX ((size_t)4 << 20)

struct pmp_core_image {
	struct pmp_core_part {
		uint64_t offset, size; /* in the file */
		unsigned prot;
	} parts[PMP_CORE_PARTS_MAX];
	size_t part_count;
	unsigned char id[PMP_CORE_ID_MAX];	 /* build-id */
	size_t id_size;				 /* 0: none, or unreadable */
	unsigned char go_id[PMP_CORE_GO_ID_MAX]; /* of Go's linker, often the only one */
	size_t go_id_size;
};

/*
 * Read it from memory, where its first byte is mapped at base; or, if mapped is false,
 * from the file, whose offsets are the reader's addresses (base 0). Adds the headers and
 * notes read to *work, which must not exceed PMP_CORE_IMAGE_WORK_MAX. False: no such
 * header, or too much work.
 */
bool pmp_core_image_read(struct pmp_core_image *image, const struct pmp_arch *arch,
			 const struct pmp_reader *reader, uint64_t base, bool mapped,
			 size_t *work);
/* PMP_PROT_ of what is mapped from an offset on; 0: unknown. */
unsigned pmp_core_image_prot(const struct pmp_core_image *image, uint64_t offset);

#endif
