/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of one thread: how much of it to copy, and the walk through the copies.
 * The thread runs again by then.
 */
#ifndef PMP_CAPTURE_STACK_COPY_H
#define PMP_CAPTURE_STACK_COPY_H

#include "capture/target.h"

/* The reader of a walk: copies of stacks first; then memory that does not
 * change. A piece of stack or heap that was not copied is never read now, as
 * the thread runs again: it is noted as missed. */
struct pmp_stack_reader {
	struct pmp_target *target;
	struct pmp_stop_request *request;
	struct pmp_regs regs;
	size_t used[PMP_REQUEST_RANGES]; /* bytes of each copy that were needed */
	bool missed, unmapped;
	uint64_t missed_address;
};

/* Unwind from reader->regs into the frames of the workspace; once more with new maps if
 * they turn out to be old. walk comes with its find_fp, if any. 0 or PMP_ENOMEM. */
int pmp_stack_walk(struct pmp_capture *capture, struct pmp_stack_reader *reader,
		   struct pmp_walk *walk);
/* Unwind from other registers on the same copies; walk comes with its frames, their
 * limit and from_caller. What it misses is noted, what it uses is not. */
int pmp_stack_try(struct pmp_stack_reader *reader, const struct pmp_regs *regs,
		  struct pmp_walk *walk);
/* What to copy of a thread never seen before. */
void pmp_stack_want_first(struct pmp_watch *watch);
/* Ask for the address that the walk has missed. False: more than is copied at most. */
bool pmp_stack_want_more(struct pmp_target *target, struct pmp_watch *watch,
			 const struct pmp_stack_reader *reader);
/* Remember what was needed, for the next sample. */
void pmp_stack_learn(struct pmp_watch *watch, const struct pmp_stack_reader *reader);
/* Fill the requests for these works, with room for their copies, touched before anything
 * is held. 0 or PMP_ENOMEM. */
int pmp_stack_prepare(struct pmp_workspace *workspace, const struct pmp_work *works,
		      struct pmp_stop_request *requests, size_t count);

#endif
