/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the heap of a process holds, for who looks on: read by a sampler of its own, as that
 * may take seconds, while the other one goes on at its pace. It attaches to nothing.
 */
#ifndef PMP_SOURCE_CENSUS_H
#define PMP_SOURCE_CENSUS_H

#include "source/source.h"

#include <sys/types.h>

/** See struct source_type. */
void census_begin(struct source *source, pid_t pid, census_done *done, void *arg);
/** In each turn of the loop. */
void census_tend(struct source *source);
/** Without a word to whom it is for. */
void census_give_up(struct source *source);

#endif
