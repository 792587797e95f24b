/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a process that may have been taken over, and may not want to end. */
#ifndef PMP_CONFINE_AWAIT_H
#define PMP_CONFINE_AWAIT_H

#include <stdbool.h>
#include <sys/types.h>

/** Wait for the end of a child for so many seconds, then kill it. *status: as waitpid(2)
 * gives it. Returns false if it is no child. */
bool confine_await(pid_t pid, unsigned seconds, int *status);

#endif
