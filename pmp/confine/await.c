/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See await.h. */
#include "confine/await.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define POLL_MS 1

bool confine_await(pid_t pid, unsigned seconds, int *status)
{
	const struct timespec rest = { .tv_nsec = POLL_MS * 1000000L };
	pid_t ended = 0;

	for (unsigned i = 0; i < seconds * 1000 / POLL_MS; i++) {
		ended = waitpid(pid, status, WNOHANG);
		if (ended)
			break;
		nanosleep(&rest, NULL);
	}
	if (ended == 0) {
		kill(pid, SIGKILL);
		do
			ended = waitpid(pid, status, 0);
		while (ended < 0 && errno == EINTR);
	}
	return ended == pid;
}
