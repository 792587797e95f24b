/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process that reads hostile files may ask of the kernel: to read what it has open,
 * memory, threads of its own, the time. It has no files, no network, no other process. Where
 * a library opens a file by its path the symbolizer is asked for it.
 */
#ifndef PMP_NAMER_CONFINE_H
#define PMP_NAMER_CONFINE_H

#include <stdbool.h>

struct pmp_namer;

/** From now on. namer: who is asked, in this thread. False: see confine_calls(). */
bool confine_namer(struct pmp_namer *namer);

#endif
