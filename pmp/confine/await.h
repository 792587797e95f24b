/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a process that may have been taken over, and may not want to end. */
#ifndef PMP_CONFINE_AWAIT_H
#define PMP_CONFINE_AWAIT_H

#include <stdbool.h>
#include <sys/types.h>

/** Wait for the end of a child for so many ms, then kill it. *status: as waitpid(2) gives it;
 * of what is no child it stays. Returns whether it was not killed. */
bool confine_await(pid_t pid, unsigned ms, int *status);

#endif
