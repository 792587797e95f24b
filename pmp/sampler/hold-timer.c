/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/hold-timer.h"

#include <signal.h>

void hold_timer_open(struct hold_timer *timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };

	timer->created = timer_create(CLOCK_MONOTONIC, &event, &timer->timer) == 0;
}

void hold_timer_set(struct hold_timer *timer, bool holding)
{
	struct itimerspec limit = { 0 };

	if (!timer->created)
		return;
	if (holding)
		limit.it_value.tv_sec = HOLD_LIMIT / NS_PER_S;
	timer_settime(timer->timer, 0, &limit, NULL);
}
