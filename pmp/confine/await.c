/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See await.h. */
#include "confine/await.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

#define DEATH 1000 /* ms to die of SIGKILL */

/* False: it has not ended within ms. */
static bool ends(pid_t pid, unsigned ms, int *status)
{
	const struct timespec rest = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < ms; i++) {
		if (waitpid(pid, status, WNOHANG) != 0)
			return true;
		nanosleep(&rest, NULL);
	}
	return false;
}

enum confine_end confine_await(pid_t pid, unsigned ms, int *status)
{
	if (ends(pid, ms, status))
		return CONFINE_ENDED;
	/* Its pid cannot be reused before we have reaped it. */
	kill(pid, SIGKILL);
	if (ends(pid, DEATH, status))
		return CONFINE_KILLED;
	*status = SIGKILL;
	return CONFINE_HANGS;
}
