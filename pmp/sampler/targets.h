/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that are sampled: opened, dropped when they end or fail, with their children. */
#ifndef PMP_SAMPLER_TARGETS_H
#define PMP_SAMPLER_TARGETS_H

#include "sampler/events.h"

/** Open one that was given; the front hears whether it could be. */
void targets_open_first(struct sampling *sampling, struct watched *watched);
/** Open the children that are new. */
void targets_open_children(struct sampling *sampling);
/** It cannot be sampled any more, for this reason. */
void targets_drop_failed(struct sampling *sampling, struct watched *watched,
			 const struct pmp_error *err);
/** It has ended; threads_only: it lives, but those of its threads that are wanted do not. */
void targets_drop_ended(struct sampling *sampling, struct watched *watched,
			bool threads_only);
/** Release late threads, also those of targets that have been dropped. */
void targets_settle(struct sampling *sampling);
/** The same, and notice targets that have ended. */
void targets_check(struct sampling *sampling);

#endif
