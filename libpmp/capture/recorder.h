/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of a recorder, unwound: the walk is that of a capture, through the copy of the
 * stack and memory that does not change. The process may have ended meanwhile: what it had
 * mapped from files is read there.
 */
#ifndef PMP_CAPTURE_RECORDER_H
#define PMP_CAPTURE_RECORDER_H

#include "capture/target.h"
#include "heap-batch.h"
#include "heap/ring.h"
#include "libpmp-program.h"

/* What the recorder in a process says of itself: shared memory, which may change; or NULL. */
const struct pmp_heap_process *pmp_recorder_process(const struct pmp_recorder *recorder,
						    pid_t pid);

/* Before the first record of a batch. new_program: no batch of it has been begun so far. 0 or
 * an error: there are no maps of it. */
int pmp_recorded_begin(struct pmp_capture *capture, bool new_program,
		       struct pmp_error *err);
/* The stack of a record: its frames are in the workspace. process: a copy of its entry.
 * 0 or PMP_ENOMEM; the number of frames in *count. */
int pmp_recorded_walk(struct pmp_capture *capture, const struct pmp_heap_entry *entry,
		      const struct pmp_heap_process *process, size_t *count,
		      enum pmp_end *end);
/* After the last one: frames in code that was replaced meanwhile end their stacks. */
void pmp_recorded_end(struct pmp_capture *capture, struct pmp_heap_batch *batch);

#endif
