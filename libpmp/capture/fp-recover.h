/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evidence from the code around a stack: does each return address follow a call
 * that leads to the function below it? From that, finding the frame pointer of a thread
 * that is asleep without stopping it.
 */
#ifndef PMP_CAPTURE_FP_RECOVER_H
#define PMP_CAPTURE_FP_RECOVER_H

#include "capture/stack-copy.h"

/* Can these frames be calls of each other, from frame `first` on? False: one of the
 * return addresses after it follows no call, or a call of another function. */
bool pmp_calls_fit(struct pmp_target *target, const struct pmp_walk *walk, size_t first);

/* Has this function a frame of one size, whatever it is called with? */
bool pmp_frame_is_fixed(struct pmp_target *target, const struct pmp_rule *rule);

/*
 * The frame pointer of the frame at regs, of which only pc and sp are known. exact: pc
 * is no return address. Where the function's first instructions tell how large its frame
 * is, that is where it points to; else each place of the copied stack that could be its
 * frame record is tried. A candidate is accepted only if the calls fit all the way to the
 * thread's root, and only if it is the only one of all that are tried. What the first
 * instructions say is the only candidate then: should an instruction be decoded wrongly
 * just so that an old frame record lies at the wrong place, that one is taken. No memory
 * of the stack that is not copied counts: then reader->missed says what was needed.
 */
bool pmp_fp_recover(struct pmp_target *target, struct pmp_stack_reader *reader,
		    const struct pmp_regs *regs, bool exact, uint64_t *fp);

#endif
