/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write/heading.h"

#include <inttypes.h>
#include <time.h>

#include "base/clock.h"

void pmp_heading_begin(struct pmp_buf *buf, const struct pmp_snapshot *snapshot)
{
	pmp_buf_printf(buf, "--- snapshot %" PRIu64 ": ", snapshot->number);
}

void pmp_heading_time(struct pmp_buf *buf, const struct pmp_snapshot *snapshot)
{
	const uint64_t realtime = snapshot->info.realtime;
	time_t seconds = realtime / PMP_S;
	char text[32] = "";
	struct tm tm;

	if (!realtime) { /* a core read from a pipe */
		pmp_buf_puts(buf, "date unknown");
		return;
	}
	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	pmp_buf_printf(buf, "%s.%03uZ", text, (unsigned)(realtime % PMP_S / PMP_MS));
}
