/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See await.h. */
#include "confine/await.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

bool confine_await(pid_t pid, unsigned ms, int *status)
{
	const struct timespec rest = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < ms; i++) {
		if (waitpid(pid, status, WNOHANG) != 0)
			return true;
		nanosleep(&rest, NULL);
	}
	/* Its pid cannot be reused before we have reaped it. */
	kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		continue;
	return false;
}
