/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/scheduling.h"

#include "libpmp-program.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORT_SLICE 100000 /* ns, the minimum that the kernel accepts */

int pmp_scheduling_get(struct pmp_scheduling *scheduling)
{
	return syscall(SYS_sched_getattr, 0, scheduling, sizeof(*scheduling), 0) == 0
		       ? 0
		       : -errno;
}

int pmp_scheduling_set(const struct pmp_scheduling *scheduling)
{
	return syscall(SYS_sched_setattr, 0, scheduling, 0) == 0 ? 0 : -errno;
}

/* Before Linux 6.12 all threads have the same slice, and this has no effect. */
void pmp_run_soon(void)
{
	struct pmp_scheduling scheduling = { .size = 0 };

	if (pmp_scheduling_get(&scheduling) || scheduling.policy != SCHED_OTHER)
		return;
	scheduling.runtime = SHORT_SLICE;
	pmp_scheduling_set(&scheduling);
}
