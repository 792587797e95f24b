/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what the heap of a process holds, for a viewer. That may take seconds, so a second
 * sampler does it while the first one keeps its pace. It attaches to nothing.
 */
#ifndef PMP_SOURCE_CENSUS_H
#define PMP_SOURCE_CENSUS_H

#include "source/source.h"

#include <sys/types.h>

/** See struct source_type. */
void census_begin(struct source *source, pid_t pid, census_done *done, void *arg);
/** Must be called in each turn of the loop. */
void census_tend(struct source *source);
/** Stop reading, without a call of done(). */
void census_give_up(struct source *source);

#endif
