/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of the sampler. */
#ifndef PMP_SOURCE_FROM_SAMPLER_H
#define PMP_SOURCE_FROM_SAMPLER_H

#include "run/run.h"

/** Take what has arrived, a bounded number of messages. */
void from_sampler_receive(struct run *run);
/** The sampler has ended without its last note: say why, and go on without it. */
void from_sampler_lost(struct run *run);

#endif
