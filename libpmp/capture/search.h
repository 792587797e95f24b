/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evidence from the code around a stack: does each return address lie behind a call
 * that leads to the function below it? From that, finding the frame pointer of a thread
 * that is asleep without stopping it.
 */
#ifndef PMP_CAPTURE_SEARCH_H
#define PMP_CAPTURE_SEARCH_H

#include "capture/stack.h"

/* Can these frames be calls of each other, from frame `first` on? False: one of the
 * return addresses behind it follows no call, or a call of another function. */
bool pmp_calls_fit(struct pmp_target *target, const struct pmp_walk *walk, size_t first);

/* Has this function a frame of one size, whatever it is called with? */
bool pmp_frame_is_fixed(struct pmp_target *target, const struct pmp_rule *rule);

/*
 * The frame pointer of the frame at regs, of which only pc and sp are known. exact: pc
 * is no return address. Where the function's first instructions tell how large its frame
 * is, that is where it points to; else each place of the copied stack that could be its
 * frame record is tried. It is the one if with it (and with no other that is tried) the
 * calls fit all the way to the thread's root. No memory of the stack that is not copied
 * counts: then reader->missed says what was needed.
 */
bool pmp_search_fp(struct pmp_target *target, struct pmp_stack_reader *reader,
		   const struct pmp_regs *regs, bool exact, uint64_t *fp);

#endif
