/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that are sampled: opens them and their children, drops
 * them when they end or fail. */
#ifndef PMP_SAMPLER_TARGETS_H
#define PMP_SAMPLER_TARGETS_H

#include "sampler/events.h"

/** Open a target from the command line; tells the front whether that succeeded. */
void targets_open_first(struct sampling *sampling, struct watched *watched);
/** Open new children of targets. */
void targets_open_children(struct sampling *sampling);
/** Drop a target that cannot be sampled any more, for the reason in err. */
void targets_drop_failed(struct sampling *sampling, struct watched *watched,
			 const struct pmp_error *err);
/** Drop a target that has ended; threads_only: the process lives, but the
 * wanted threads have ended. */
void targets_drop_ended(struct sampling *sampling, struct watched *watched,
			bool threads_only);
/** Release late threads that have stopped, also those of dropped targets. */
void targets_settle(struct sampling *sampling);
/** The same, and drop targets that have ended. */
void targets_check(struct sampling *sampling);

#endif
