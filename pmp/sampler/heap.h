/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what recorders in the targets have recorded (--heap), and sends it to the front. */
#ifndef PMP_SAMPLER_HEAP_H
#define PMP_SAMPLER_HEAP_H

#include "sampler/events.h"

/** When to read next, CLOCK_MONOTONIC; UINT64_MAX: there is no recorder. */
uint64_t heap_due(const struct sampling *sampling);
/** Read the recorders if that is due. */
void heap_read(struct sampling *sampling);
/** The share of --max-cpu (percent; 0: no limit) left for snapshots: at least half. */
uint64_t heap_leaves(const struct sampling *sampling);
/** A process has ended: read the rest of its records. */
void heap_end(struct sampling *sampling, pid_t pid);

#endif
