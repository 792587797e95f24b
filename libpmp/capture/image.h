/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call-frame information of one mapped module: where is the frame
 * description (FDE) for a pc? In this order: the binary search table of
 * .eh_frame_hdr as it lies in the target's memory; an index made once of
 * .eh_frame where there is no such table (static programs); .debug_frame from
 * the file, compressed or not (Go). The bias is our own: segments need not
 * begin at a page (lld).
 */
#ifndef PMP_CAPTURE_IMAGE_H
#define PMP_CAPTURE_IMAGE_H

#include "capture/cfi.h"
#include "capture/reader.h"
#include "sample.h"

struct pmp_image;

/*
 * An FDE, found, checked and rewritten (cfi.h): data holds its CIE and, at
 * offset fde, itself. Borrowed from the image until the next call.
 */
struct pmp_fde {
	uint64_t start, end;	/* of the code it describes */
	struct pmp_cfi_cie cie;	/* as they were found */
	struct pmp_cfi_fde entry;
	const void *data;	/* NULL: there is one, but it cannot be understood */
	size_t size, fde;
	bool expressions;	/* libunwind will read the data again later */
};

/* region: the executable region of the module that the image is for. Reads
 * nothing yet. Keeps a reference to the module, none to maps. NULL: no memory. */
struct pmp_image *pmp_image_new(const struct pmp_maps *maps,
				const struct pmp_region *region);
void pmp_image_free(struct pmp_image *image);
/* Find the FDE that covers pc. memory reads headers and call-frame information
 * of the target. False: none. */
bool pmp_image_find(struct pmp_image *image, const struct pmp_reader *memory, uint64_t pc,
		    struct pmp_fde *fde);

#endif
