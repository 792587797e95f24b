/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for a process that may be compromised and may not want to end. */
#ifndef PMP_CONFINE_AWAIT_H
#define PMP_CONFINE_AWAIT_H

#include <stdbool.h>
#include <sys/types.h>

/** Wait at most ms for the end of a child, then kill it. *status: as from waitpid(2);
 * unchanged if pid is not a child. Returns true if it was not killed. */
bool confine_await(pid_t pid, unsigned ms, int *status);

#endif
