/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call-frame information of one function, as in .eh_frame and .debug_frame: a
 * common part (CIE) and one entry (FDE). Both come from the target, but
 * libunwind trusts what it reads. So it gets a rewritten pair: every
 * instruction checked, addresses absolute, nothing left that libunwind does not
 * know.
 *
 * Pure functions over bytes.
 */
#ifndef PMP_UNWIND_CFI_H
#define PMP_UNWIND_CFI_H

#include "base/buf.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section, or a part of one. */
struct pmp_cfi_bytes {
	const struct pmp_arch *arch; /* of the code */
	const uint8_t *data;
	size_t size;
	uint64_t address; /* of data[0] in the target, for relative pointers */
	uint64_t bias;	  /* .debug_frame: added to its addresses */
	bool debug_frame;
};

/* One entry of a section; all offsets are into its bytes. */
struct pmp_cfi_entry {
	size_t link; /* the field that marks a CIE, or refers to the CIE */
	size_t body; /* after that field */
	size_t end;  /* the next entry */
	bool is_cie;
	bool is_filler;	      /* zero length: body == end */
	size_t cie;	      /* of an FDE: offset of its CIE, possibly out of range */
	uint64_t cie_address; /* of an FDE in .eh_frame: address of its CIE */
};

/* Maximum bytes of one call-frame program; the largest found in 200 programs and libraries
 * of up to 700 MB is 60,772 (libcufft), in the compilers of GCC and Rust 33,680. */
#define PMP_CFI_PROGRAM_MAX ((size_t)64 << 10)

struct pmp_cfi_cie {
	const struct pmp_arch *arch;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of the addresses in its FDEs: DW_EH_PE_ */
	bool augmented;	  /* FDEs have augmentation data */
	bool signal;	  /* describes a signal frame */
	const uint8_t *program;
	size_t program_size;
};

struct pmp_cfi_fde {
	uint64_t start, end; /* of the code */
	const uint8_t *program;
	size_t program_size;
};

/* False if the bytes are malformed, or more than in any real program; then outputs are
 * undefined. */
bool pmp_cfi_entry(const struct pmp_cfi_bytes *bytes, size_t offset,
		   struct pmp_cfi_entry *entry);
bool pmp_cfi_parse_cie(const struct pmp_cfi_bytes *bytes, size_t offset,
		       struct pmp_cfi_cie *cie);
bool pmp_cfi_parse_fde(const struct pmp_cfi_bytes *bytes,
		       const struct pmp_cfi_entry *entry, const struct pmp_cfi_cie *cie,
		       struct pmp_cfi_fde *fde);
/* A pointer in one of the encodings of .eh_frame_hdr; moves *offset past it.
 * data_base is the base of data-relative pointers. */
bool pmp_cfi_pointer(const struct pmp_cfi_bytes *bytes, size_t *offset, uint8_t encoding,
		     uint64_t data_base, uint64_t *value);

/* Are all instructions of the two understood, with valid operands? */
bool pmp_cfi_check(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *fde);

struct pmp_cfi_pair {
	size_t fde;	  /* offset of the FDE in out: a multiple of 8 */
	bool expressions; /* libunwind will read the pair again later */
	size_t states;	  /* how often its programs remember or restore a state */
};
/* Replace the contents of out by the pair. False: an instruction that is not
 * understood, or no memory. */
bool pmp_cfi_write(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *fde,
		   struct pmp_buf *out, struct pmp_cfi_pair *pair);

#endif
