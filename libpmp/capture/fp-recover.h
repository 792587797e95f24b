/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks stacks against the code: does each return address follow a call to the function
 * below it? Uses that to find the frame pointer of a sleeping thread without stopping it.
 */
#ifndef PMP_CAPTURE_FP_RECOVER_H
#define PMP_CAPTURE_FP_RECOVER_H

#include "capture/stack-copy.h"

/* Can these frames have called each other, from frame `first` on? False: one of the return
 * addresses after it does not follow a call, or follows a call of another function. */
bool pmp_calls_fit(struct pmp_target *target, const struct pmp_walk *walk, size_t first);

/* Does this function have a frame of constant size? */
bool pmp_frame_is_fixed(struct pmp_target *target, const struct pmp_rule *rule);

/*
 * Recover the frame pointer of the frame at regs, where only pc and sp are known. exact:
 * pc is not a return address. If the function's first instructions tell its frame size,
 * that yields the only candidate; else each place in the copied stack that could be its
 * frame record is tried. A candidate is accepted only if the calls fit all the way to the
 * thread's root, and no other candidate does. Limitation: if an instruction is misdecoded
 * and an old frame record happens to lie at the wrong place, that one is accepted. Only
 * copied stack memory is used: reader->missed tells what else was needed.
 */
bool pmp_fp_recover(struct pmp_target *target, struct pmp_stack_reader *reader,
		    const struct pmp_regs *regs, bool exact, uint64_t *fp);

#endif
