/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the frame description (FDE) for a pc in the call-frame information of
 * one mapped module. In this order: the binary search table of .eh_frame_hdr in
 * the target's memory; if there is no such table (static programs), an index
 * built once from .eh_frame; .debug_frame from the file, unless it is
 * compressed (sections.h). The bias is computed here, because segments need not
 * begin at a page boundary (lld).
 */
#ifndef PMP_UNWIND_FDE_H
#define PMP_UNWIND_FDE_H

#include "sample.h"
#include "unwind/cfi.h"
#include "base/reader.h"
#include "unwind/sections.h"

struct pmp_fde_finder;

/* Shared by the finders of one process. */
struct pmp_fde_shared {
	struct pmp_section_budget budget;
	void *entry[2]; /* buffers for the CIE and the FDE that were read last */
};

void pmp_fde_shared_free(struct pmp_fde_shared *shared);

/* An FDE, found and checked (cfi.h). The programs in cie and entry are borrowed until the
 * next call for any finder of the process. */
struct pmp_fde {
	uint64_t start, end; /* of the code it describes */
	struct pmp_cfi_cie cie;
	struct pmp_cfi_fde entry;
	bool understood; /* pmp_cfi_check() */
	size_t work;	 /* cost of executing it, in bytes of programs; 0: no FDE */
};

/* Make a finder for an executable region of a module; region is one of maps. Reads nothing
 * yet. Keeps a reference to the module, but not to maps. shared must outlive it. NULL: no
 * memory. */
struct pmp_fde_finder *pmp_fde_finder_new(const struct pmp_arch *arch,
					  const struct pmp_maps *maps,
					  const struct pmp_region *region,
					  struct pmp_fde_shared *shared);
void pmp_fde_finder_free(struct pmp_fde_finder *finder);
/* How far above its ELF addresses the module is mapped. False: unknown. */
bool pmp_fde_bias(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
		  uint64_t *bias);
/* Find the FDE that covers pc. memory reads headers and call-frame information
 * of the target. False: none. */
bool pmp_fde_find(struct pmp_fde_finder *finder, const struct pmp_reader *memory,
		  uint64_t pc, struct pmp_fde *fde);

#endif
