/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From registers and memory to return addresses. Runs after the thread has
 * been released; knows no process: memory comes through a struct pmp_reader,
 * the layout through a struct pmp_maps.
 *
 * Per frame: call-frame information through libunwind (general.c) where image.c
 * finds some for the pc; else the rules for code without any: leaf functions,
 * stubs, the frame-pointer chain. Back to call-frame information as soon as
 * there is some.
 */
#ifndef PMP_CAPTURE_WALK_H
#define PMP_CAPTURE_WALK_H

#include "capture/arch.h"
#include "capture/reader.h"
#include "libpmp.h"
#include "sample.h"

struct pmp_unwinder;

/* NULL: no memory. mode as in the public options. */
struct pmp_unwinder *pmp_unwinder_new(enum pmp_unwind mode);
void pmp_unwinder_free(struct pmp_unwinder *unwinder);
/*
 * Use this address space from now on (a reference is taken). What was cached
 * stays valid unless exec_generation differs. memory reads the target's
 * unchanging memory (headers, call-frame information, code) and is copied;
 * its arg must live as long as these maps are in use.
 */
int pmp_unwinder_set_maps(struct pmp_unwinder *unwinder, struct pmp_maps *maps,
			  const struct pmp_reader *memory);

struct pmp_walk {
	struct pmp_raw_frame *frames;	/* in: room for limit frames */
	size_t limit;
	size_t count;			/* out */
	enum pmp_end end;		/* out */
	uint64_t top;			/* out: sp of the outermost frame found */
};

/*
 * Unwind one stack. stack reads everything while it lasts: the copy of the
 * stack and, behind it, the same memory as above. Always gives at least the
 * innermost frame. Returns 0 or PMP_ENOMEM.
 */
int pmp_walk(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
	     const struct pmp_reader *stack, struct pmp_walk *walk);

#endif
