/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of one thread: how much of it to copy, and the walk through the copies, during
 * which the thread already runs again.
 */
#ifndef PMP_CAPTURE_STACK_COPY_H
#define PMP_CAPTURE_STACK_COPY_H

#include "capture/target.h"

/* The reader for a walk: uses copies of stacks first, then memory that does not
 * change. Stack or heap that was not copied is never read, because the thread
 * runs again: it is noted as missed. */
struct pmp_stack_reader {
	struct pmp_target *target;
	struct pmp_stop_request *request;
	struct pmp_regs regs;
	size_t used[PMP_REQUEST_RANGES]; /* needed bytes of each copy */
	bool missed, unmapped;
	uint64_t missed_address;
};

/* Unwind from reader->regs into the frames of the workspace; again with new maps if the
 * old ones turn out to be outdated. walk has its find_fp set, if any. 0 or PMP_ENOMEM. */
int pmp_stack_walk(struct pmp_capture *capture, struct pmp_stack_reader *reader,
		   struct pmp_walk *walk);
/* Unwind from other registers, with the same copies; walk has frames, their limit and
 * from_caller set. Notes what it misses, but not what it uses. */
int pmp_stack_try(struct pmp_stack_reader *reader, const struct pmp_regs *regs,
		  struct pmp_walk *walk);
/* Set what to copy from a thread never seen before. */
void pmp_stack_want_first(struct pmp_watch *watch);
/* Request the address that the walk missed. False: that exceeds the largest copy. */
bool pmp_stack_want_more(struct pmp_target *target, struct pmp_watch *watch,
			 const struct pmp_stack_reader *reader);
/* Remember what was needed, for the next sample. */
void pmp_stack_learn(struct pmp_watch *watch, const struct pmp_stack_reader *reader);
/* Fill the requests for these works, with buffers for their copies that are faulted in
 * before any thread is held. 0 or PMP_ENOMEM. */
int pmp_stack_prepare(struct pmp_workspace *workspace, const struct pmp_work *works,
		      struct pmp_stop_request *requests, size_t count);

#endif
