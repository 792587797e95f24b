/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receives messages from the sampler. */
#ifndef PMP_SOURCE_FROM_SAMPLER_H
#define PMP_SOURCE_FROM_SAMPLER_H

#include "libpmp.h"

struct source;

/**
 * Take what has arrived, a bounded number of messages. 0; PMP_ESRCH: the sampler is
 * gone without its last event; or another negative code: what it sends is invalid,
 * and the error is printed.
 */
int from_sampler_receive(struct source *source, struct pmp_receiver *receiver);

#endif
