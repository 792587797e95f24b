/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler's last resort: if it holds threads for HOLD_LIMIT the kernel kills it,
 * which releases them. That needs no other process, and it works while the sampler
 * is stopped, frozen or asleep; the front, which watches it too, may be all that as well.
 */
#ifndef PMP_SAMPLER_HOLD_TIMER_H
#define PMP_SAMPLER_HOLD_TIMER_H

#include <stdbool.h>
#include <time.h>

#include "run/clock.h"

#define HOLD_LIMIT (2 * NS_PER_S) /* the front kills after half of that, and says why */

struct hold_timer {
	timer_t timer;
	bool created;
};

/** To be called in the process that is to be killed. Without timers there is none. */
void hold_timer_open(struct hold_timer *timer);
/** The limit begins now; or there is none as nothing is held any more. */
void hold_timer_set(struct hold_timer *timer, bool holding);

#endif
