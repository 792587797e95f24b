/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts a core file: one snapshot of a process that has ended. */
#ifndef PMP_SOURCE_CORE_FILE_H
#define PMP_SOURCE_CORE_FILE_H

#include "libpmp.h"

struct counting;
struct input;

/** Count it in a profile, and report what is missing; path is for messages. crash, of
 * TARGETS_CRASH_SIZE bytes, is set to how the process ended. 0 or a code of libpmp.h.
 * Called by the worker. */
int core_file_read(const struct counting *counting, struct pmp_profile *profile,
		   const struct input *input, const char *path, char *crash,
		   struct pmp_error *err);

#endif
