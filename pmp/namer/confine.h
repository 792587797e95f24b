/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confine a process that reads hostile files: it may read what it has open, allocate
 * memory, create threads and read clocks. It has no files, no network and no other
 * processes. If a library opens a file by path, the symbolizer is asked for it.
 */
#ifndef PMP_NAMER_CONFINE_H
#define PMP_NAMER_CONFINE_H

#include <stdbool.h>

struct pmp_namer;

/** Install the filter. namer: is asked for files, in this thread. False: see
 * confine_calls(). */
bool confine_namer(struct pmp_namer *namer);

#endif
