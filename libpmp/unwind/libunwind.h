/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step by call-frame information: libunwind with accessors of our own.
 * Knows neither the process nor the layout of its memory.
 */
#ifndef PMP_UNWIND_LIBUNWIND_H
#define PMP_UNWIND_LIBUNWIND_H

#include "unwind/arch.h"
#include "unwind/fde.h"
#include "base/reader.h"

struct pmp_libunwind;

/* Who asks for steps, and what is asked of it; the first two for what is not cached. */
struct pmp_libunwind_caller {
	/* Give the FDE of a pc. */
	bool (*find)(void *arg, uint64_t pc, struct pmp_fde *fde);
	/* May its programs be executed, which remember or restore a state so often? */
	bool (*allow)(void *arg, size_t states);
	/* May a word more be read, also by what is cached? Expressions are read byte by
	 * byte as they are executed. */
	bool (*may_read)(void *arg);
	void *arg;
};

/* caller is copied. NULL: no memory. */
struct pmp_libunwind *pmp_libunwind_new(const struct pmp_libunwind_caller *caller);
void pmp_libunwind_free(struct pmp_libunwind *libunwind);
/* Executable memory has changed: forget all. */
void pmp_libunwind_flush(struct pmp_libunwind *libunwind);

enum pmp_libunwind_result {
	PMP_LIBUNWIND_STEP, /* regs are the caller's */
	PMP_LIBUNWIND_ROOT, /* there is no caller */
	PMP_LIBUNWIND_UNREADABLE,
	PMP_LIBUNWIND_UNKNOWN, /* a register is needed that is not known: *needed */
	PMP_LIBUNWIND_BAD,     /* the information makes no sense */
};
/*
 * From the frame in regs to its caller. lookup is the address whose information
 * holds: the pc of an exact frame, within the call otherwise. keep: the
 * registers that are known afterwards, if they were before (all, after a signal
 * frame). regs are untouched unless the result is PMP_LIBUNWIND_STEP. *needed: the
 * register whose value was missed, with PMP_LIBUNWIND_UNKNOWN.
 */
enum pmp_libunwind_result pmp_libunwind_step(struct pmp_libunwind *libunwind,
					     struct pmp_regs *regs, uint64_t lookup,
					     const struct pmp_reader *stack,
					     uint64_t keep, int *needed);

#endif
