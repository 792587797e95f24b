/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinds records of a recorder, with the same walk as a capture, through the copy of the
 * stack and memory that does not change. The process may have exited meanwhile: then
 * mapped files are read instead.
 */
#ifndef PMP_CAPTURE_RECORDER_H
#define PMP_CAPTURE_RECORDER_H

#include "capture/target.h"
#include "heap-batch.h"
#include "heap/ring.h"
#include "libpmp-program.h"

/* What the recorder in a process says about itself: shared memory, which may change; or
 * NULL. */
const struct pmp_heap_process *pmp_recorder_process(const struct pmp_recorder *recorder,
						    pid_t pid);

/* Call it before the first record of a batch. new_program: this is its first batch. 0 or
 * an error: its maps could not be read. */
int pmp_recorded_begin(struct pmp_capture *capture, bool new_program,
		       struct pmp_error *err);
/* Unwind the stack of a record into the frames of the workspace, and set *count to their
 * number. process: a copy of its entry. 0 or PMP_ENOMEM. */
int pmp_recorded_walk(struct pmp_capture *capture, const struct pmp_heap_entry *entry,
		      const struct pmp_heap_process *process, size_t *count,
		      enum pmp_end *end);
/* Call it after the last record: stacks end at frames in code that was replaced
 * meanwhile. */
void pmp_recorded_end(struct pmp_capture *capture, struct pmp_heap_batch *batch);

#endif
