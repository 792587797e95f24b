/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step with call-frame information: libunwind with custom accessors. Knows
 * neither the process nor its memory layout.
 */
#ifndef PMP_UNWIND_LIBUNWIND_H
#define PMP_UNWIND_LIBUNWIND_H

#include "unwind/arch.h"
#include "unwind/fde.h"
#include "base/reader.h"

struct pmp_libunwind;

/* Callbacks of the caller; the first two are for what is not cached. */
struct pmp_libunwind_caller {
	/* Find the FDE of a pc. */
	bool (*find)(void *arg, uint64_t pc, struct pmp_fde *fde);
	/* May its programs, with this many remembered or restored states, be executed? */
	bool (*allow)(void *arg, size_t states);
	/* May another word be read? Also called for what is cached. Expressions are read
	 * byte by byte while they are executed. */
	bool (*may_read)(void *arg);
	void *arg;
};

/* caller is copied. NULL: no memory. */
struct pmp_libunwind *pmp_libunwind_new(const struct pmp_libunwind_caller *caller);
void pmp_libunwind_free(struct pmp_libunwind *libunwind);
/* Drop all caches, because executable memory has changed. */
void pmp_libunwind_flush(struct pmp_libunwind *libunwind);

enum pmp_libunwind_result {
	PMP_LIBUNWIND_STEP, /* regs are the caller's */
	PMP_LIBUNWIND_ROOT, /* there is no caller */
	PMP_LIBUNWIND_UNREADABLE,
	PMP_LIBUNWIND_UNKNOWN, /* an unknown register is needed: *needed */
	PMP_LIBUNWIND_BAD,     /* the information is malformed */
};
/*
 * Step from the frame in regs to its caller. lookup is the address whose information
 * applies: the pc of an exact frame, otherwise an address within the call. keep: the
 * registers that stay known if they were before (all, after a signal frame). regs are
 * unchanged unless the result is PMP_LIBUNWIND_STEP. *needed: the register whose value was
 * missing, with PMP_LIBUNWIND_UNKNOWN.
 */
enum pmp_libunwind_result pmp_libunwind_step(struct pmp_libunwind *libunwind,
					     struct pmp_regs *regs, uint64_t lookup,
					     const struct pmp_reader *stack,
					     uint64_t keep, int *needed);

#endif
