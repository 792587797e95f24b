/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides the frames of a recorder from samples of threads, so that they look as without it.
 * A thread in the recorder itself, and not in what it called, is shown in the function
 * that the program called.
 */
#ifndef PMP_CAPTURE_RECORDER_FRAMES_H
#define PMP_CAPTURE_RECORDER_FRAMES_H

#include "heap/protocol.h"
#include "sample.h"

#include <stddef.h>

/* process: its entry, which is not trusted. Returns how many frames are left. */
size_t pmp_recorder_frames_hide(const struct pmp_heap_process *process,
				struct pmp_raw_frame *frames, size_t count);

#endif
