/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * closer FILE: opens it and closes it again, for ever. A close that has failed has closed
 * it all the same: to close once more what may be another file by then is the one thing
 * that must not happen.
 *
 * Verdict: no descriptor was closed twice; how many closes were interrupted is printed.
 */
#include "target.h"

static atomic_ullong closes, interrupted, twice;
static const char *path;

static NOINLINE void close_one(int fd)
{
	if (close(fd) == 0)
		closes++;
	else if (errno == EINTR)
		interrupted++;
	else
		twice++;
}

static void close_all(void *arg)
{
	(void)arg;
	for (;;) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			target_die(path);
		close_one(fd);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		target_die("usage: closer FILE");
	path = argv[1];
	target_begin();
	target_thread("closer", close_all, NULL);
	target_ready();
	target_wait_end();
	printf("closed %llu interrupted %llu\n", closes, interrupted);
	if (twice)
		target_verdict("%llu were closed twice", twice);
	target_verdict(NULL);
}
