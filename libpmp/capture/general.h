/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step by call-frame information: libunwind with accessors of our own.
 * Knows neither the process nor the layout of its memory.
 */
#ifndef PMP_CAPTURE_GENERAL_H
#define PMP_CAPTURE_GENERAL_H

#include "capture/arch.h"
#include "capture/image.h"
#include "capture/reader.h"

struct pmp_general;

/* find gives the FDE of a pc; it is asked only for what is not cached. NULL: no memory.
 */
struct pmp_general *
pmp_general_new(bool (*find)(void *arg, uint64_t pc, struct pmp_fde *fde), void *arg);
void pmp_general_free(struct pmp_general *general);
/* Executable memory has changed: forget all. */
void pmp_general_flush(struct pmp_general *general);

enum pmp_general_result {
	PMP_GENERAL_STEP,	/* regs are the caller's */
	PMP_GENERAL_ROOT,	/* there is no caller */
	PMP_GENERAL_UNREADABLE,
	PMP_GENERAL_UNKNOWN,	/* a register is needed that is not known: *needed */
	PMP_GENERAL_BAD,	/* the information makes no sense */
};
/*
 * From the frame in regs to its caller. lookup is the address whose information
 * holds: the pc of an exact frame, within the call otherwise. keep: the
 * registers that are known afterwards, if they were before (all, behind a signal
 * frame). regs are untouched unless the result is PMP_GENERAL_STEP. *needed: the
 * register whose value was missed, with PMP_GENERAL_UNKNOWN.
 */
enum pmp_general_result pmp_general_step(struct pmp_general *general,
					 struct pmp_regs *regs, uint64_t lookup,
					 const struct pmp_reader *stack, uint64_t keep,
					 int *needed);

#endif
