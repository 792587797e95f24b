/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of a recorder, which are left out of the samples of threads: they look as without
 * it. A thread that is in it, and not in what it has called, is in the function that the
 * program has called.
 */
#ifndef PMP_CAPTURE_RECORDER_FRAMES_H
#define PMP_CAPTURE_RECORDER_FRAMES_H

#include "heap/protocol.h"
#include "sample.h"

#include <stddef.h>

/* process: its entry, of which nothing is believed. Returns how many frames are left. */
size_t pmp_recorder_frames_hide(const struct pmp_heap_process *process,
				struct pmp_raw_frame *frames, size_t count);

#endif
