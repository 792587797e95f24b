/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call-frame information of one mapped module: where is the frame
 * description (FDE) for a pc? In this order: the binary search table of
 * .eh_frame_hdr as it lies in the target's memory; an index made once of
 * .eh_frame where there is no such table (static programs); .debug_frame from
 * the file, unless it is compressed (sections.h). The bias is our own: segments
 * need not begin at a page (lld).
 */
#ifndef PMP_UNWIND_FDE_H
#define PMP_UNWIND_FDE_H

#include "sample.h"
#include "unwind/cfi.h"
#include "base/reader.h"
#include "unwind/sections.h"

struct pmp_fde_finder;

/* What the finders of one process have in common. */
struct pmp_fde_shared {
	struct pmp_section_budget budget;
	void *entry[2]; /* room for the CIE and the FDE that were read last */
};

void pmp_fde_shared_free(struct pmp_fde_shared *shared);

/* An FDE, found and checked (cfi.h). The programs in cie and entry are borrowed until the next
 * call for any finder of the process. */
struct pmp_fde {
	uint64_t start, end; /* of the code it describes */
	struct pmp_cfi_cie cie;
	struct pmp_cfi_fde entry;
	bool understood; /* pmp_cfi_check() */
	size_t work; /* what executing it takes, in bytes of programs; 0: there is none */
};

/* region: the executable region of the module that the finder is for, one of maps. Reads
 * nothing yet. Keeps a reference to the module, none to maps. shared must live longer. NULL:
 * no memory. */
struct pmp_fde_finder *pmp_fde_finder_new(const struct pmp_arch *arch,
					  const struct pmp_maps *maps,
					  const struct pmp_region *region,
					  struct pmp_fde_shared *shared);
void pmp_fde_finder_free(struct pmp_fde_finder *finder);
/* How far above its ELF addresses the module is mapped. False: that is not known. */
bool pmp_fde_bias(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
		  uint64_t *bias);
/* Find the FDE that covers pc. memory reads headers and call-frame information
 * of the target. False: none. */
bool pmp_fde_find(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
		  uint64_t pc, struct pmp_fde *fde);

#endif
