/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See supervise.h. Without a clock or a process, so that tests can drive it. */
#include "run/supervise.h"

#include "base/fault.h"

#define NS_PER_MS UINT64_C(1000000)
#define EARLY_MS 5	 /* poll() may return so much too early */
#define HELD_CHECKS 10	 /* a thread held for 1 s */
#define SILENT_CHECKS 50 /* no sign of life for 5 s */
#define FINISH_CHECKS 20 /* the same, for 2 s, once it was asked to end, or killed */

bool supervise_is_due(const struct supervise *last, uint64_t now)
{
	return now - last->checked >= (SUPERVISE_MS - EARLY_MS) * NS_PER_MS;
}

enum supervise_verdict supervise_check(struct supervise *last,
				       const struct sighting *seen)
{
	const unsigned silent = seen->finishing ? FINISH_CHECKS : SILENT_CHECKS;

	if (seen->held && seen->held == last->held)
		last->held_checks++;
	else
		last->held_checks = 0;
	if (!seen->idle || seen->beat != last->beat)
		last->silent_checks = 0;
	else if (!seen->starved)
		last->silent_checks++;
	last->checked = seen->now;
	last->held = seen->held;
	last->beat = seen->beat;
	if (last->held_checks >= HELD_CHECKS)
		return SUPERVISE_HOLDS;
	if (PMP_FAULT("kill-hastily") && last->silent_checks > 1)
		return SUPERVISE_SILENT;
	return last->silent_checks >= silent ? SUPERVISE_SILENT : SUPERVISE_FINE;
}

bool supervise_is_stuck(const struct supervise *last)
{
	return last->silent_checks > FINISH_CHECKS;
}
