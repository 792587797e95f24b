/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wait-kinds.h"

static const char *const kinds[] = {
	[PMP_WAIT_NONE] = "",
	[PMP_WAIT_MUTEX] = "mutex",
	[PMP_WAIT_RWLOCK] = "rwlock",
	[PMP_WAIT_LATCH] = "latch",
	[PMP_WAIT_STDIO] = "stdio",
	[PMP_WAIT_JOIN] = "join",
	[PMP_WAIT_CONDITION] = "condition",
	[PMP_WAIT_FUTEX] = "futex",
	[PMP_WAIT_FILE] = "file",
	[PMP_WAIT_PIPE] = "pipe",
	[PMP_WAIT_SOCKET] = "socket",
	[PMP_WAIT_CHILD] = "child",
	[PMP_WAIT_VFORK] = "vfork",
	[PMP_WAIT_SEMOP] = "semop",
};

const char *pmp_wait_kind_name(const struct pmp_wait *wait)
{
	return wait->kind < PMP_WAIT_COUNT ? kinds[wait->kind] : "";
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
