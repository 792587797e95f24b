/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What recorders in the targets have written down (--heap), on its way to the front. */
#ifndef PMP_SAMPLER_HEAP_H
#define PMP_SAMPLER_HEAP_H

#include "sampler/events.h"

/** When it has to be read next, CLOCK_MONOTONIC; UINT64_MAX: there is no recorder. */
uint64_t heap_due(const struct sampling *sampling);
/** Read it if that is due. */
void heap_read(struct sampling *sampling);
/** What of --max-cpu (percent; 0: no limit) is left for snapshots: half of it at least. */
uint64_t heap_leaves(const struct sampling *sampling);
/** A process has ended: read the rest of what it has written down. */
void heap_end(struct sampling *sampling, pid_t pid);

#endif
