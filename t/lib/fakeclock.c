/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded: the time of day is what TEST_CLOCK says (seconds since 1970), also
 * that of files when they are synced. Other clocks are left alone. Syncing takes
 * TEST_FSYNC microseconds, and with "hang" does not end: only SIGKILL helps.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static time_t clock_now(void)
{
	const char *text = getenv("TEST_CLOCK");
	struct timespec now;

	if (text)
		return strtoll(text, NULL, 10);
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

time_t time(time_t *result)
{
	time_t now = clock_now();

	if (result)
		*result = now;
	return now;
}

static void hang(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
}

int fsync(int fd)
{
	const struct timespec now = { .tv_sec = clock_now() };
	const struct timespec both[2] = { now, now };
	const char *how = getenv("TEST_FSYNC");
	struct timespec rest;

	if (how && strcmp(how, "hang") == 0)
		hang();
	if (how) {
		rest.tv_sec = atol(how) / 1000000;
		rest.tv_nsec = atol(how) % 1000000 * 1000;
		nanosleep(&rest, NULL);
	}
	futimens(fd, both);
	return 0;
}
