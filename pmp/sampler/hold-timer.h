/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler's last resort: if it holds threads for HOLD_LIMIT, a timer has the kernel
 * kill it, which releases them. That works even while the sampler is stopped, frozen or
 * asleep. The front watches the sampler too, but may itself be in such a state.
 */
#ifndef PMP_SAMPLER_HOLD_TIMER_H
#define PMP_SAMPLER_HOLD_TIMER_H

#include <stdbool.h>
#include <time.h>

#include "run/clock.h"

#define HOLD_LIMIT (2 * NS_PER_S) /* the front kills it after half, and says why */

struct hold_timer {
	timer_t timer;
	bool created;
};

/** Must be called in the sampler. If no timer can be created, there is no limit. */
void hold_timer_open(struct hold_timer *timer);
/** holding: start the timer; otherwise stop it, as nothing is held any more. */
void hold_timer_set(struct hold_timer *timer, bool holding);

#endif
