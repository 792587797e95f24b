/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wait-kinds.h"

static const struct {
	const char *name;
	bool lock;
} kinds[] = {
	[PMP_WAIT_NONE] = { "", false },
	[PMP_WAIT_MUTEX] = { "mutex", true },
	[PMP_WAIT_RWLOCK] = { "rwlock", true },
	[PMP_WAIT_LATCH] = { "latch", true },
	[PMP_WAIT_STDIO] = { "stdio", true },
	[PMP_WAIT_JOIN] = { "join", true },
	[PMP_WAIT_CONDITION] = { "condition", false },
	[PMP_WAIT_FUTEX] = { "futex", false },
};

bool pmp_wait_is_lock(const struct pmp_wait *wait)
{
	return wait->kind < PMP_WAIT_COUNT && kinds[wait->kind].lock;
}

const char *pmp_wait_kind_name(const struct pmp_wait *wait)
{
	return wait->kind < PMP_WAIT_COUNT ? kinds[wait->kind].name : "";
}

void pmp_report_name_wait(const struct pmp_report *report, const pmp_location *locations,
			  size_t count, const struct pmp_wait *wait,
			  struct pmp_named_wait *named)
{
	(void)report;
	(void)locations;
	(void)count;
	*named = (struct pmp_named_wait){
		.wait = *wait,
		.kind = pmp_wait_kind_name(wait),
		.lock = pmp_wait_is_lock(wait),
		.write = wait->flags & PMP_WAIT_WRITE,
	};
}

void pmp_report_name_row(const struct pmp_report *report, const struct pmp_row *row,
			 struct pmp_named_wait *named)
{
	pmp_report_name_wait(report, row->locations, row->thread->frame_count,
			     &row->thread->wait, named);
}
