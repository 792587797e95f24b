/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heap profile of gperftools as text: the formats heap and growth. */
#ifndef PMP_WRITE_HEAP_TEXT_H
#define PMP_WRITE_HEAP_TEXT_H

#include <stdbool.h>

#include "write/writer.h"

/* growth: write what the allocator took from the kernel instead of what was allocated. */
void pmp_heap_text_write(struct pmp_out *out, const struct pmp_report *report,
			 bool growth);

#endif
