/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for a process that may be compromised and may not want to end. */
#ifndef PMP_CONFINE_AWAIT_H
#define PMP_CONFINE_AWAIT_H

#include <sys/types.h>

enum confine_end {
	CONFINE_ENDED,	/* by itself */
	CONFINE_KILLED, /* and reaped */
	CONFINE_HANGS, /* killed, but still in the kernel (a file server does not answer) */
};

/** Wait at most ms for the end of a child, then kill it, and wait at most a second for that.
 * *status: as from waitpid(2), of one that hangs as of one that was killed; unchanged if pid
 * is not a child. One that hangs is left to be reaped later. */
enum confine_end confine_await(pid_t pid, unsigned ms, int *status);

#endif
