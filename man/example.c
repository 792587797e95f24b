/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a process, the most frequent first, by nothing but libpmp:
 *
 *	cc -o example example.c $(pkg-config --cflags --libs libpmp)
 *	./example 4100
 */
#include <libpmp.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int to_stdout(void *arg, const void *data, size_t length)
{
	(void)arg;
	return fwrite(data, 1, length, stdout) == length ? 0 : -EIO;
}

/* Twenty snapshots in a second, each counted and forgotten. */
static int collect(struct pmp_target *target, struct pmp_profile *profile,
		   struct pmp_error *error)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct pmp_sample *sample;
	int status = 0;

	for (int i = 0; i < 20 && status >= 0; i++) {
		status = pmp_target_capture(target, &sample, error);
		if (status < 0)
			break;
		status = pmp_profile_add(profile, sample, error);
		pmp_sample_free(sample);
		while (pmp_target_settle(target) > 0)
			usleep(1000);
		nanosleep(&pause, NULL);
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct pmp_sink sink = { .write = to_stdout };
	struct pmp_symbolizer *symbolizer = NULL;
	struct pmp_profile *profile = NULL;
	struct pmp_target *target = NULL;
	struct pmp_error error;
	int status = PMP_EINVAL;

	if (argc != 2) {
		fprintf(stderr, "usage: example PID\n");
		return 2;
	}
	if (pmp_target_open((pid_t)strtol(argv[1], NULL, 10), NULL, &target, &error) < 0 ||
	    pmp_symbolizer_new(NULL, &symbolizer, &error) < 0 ||
	    pmp_profile_new(NULL, symbolizer, &profile, &error) < 0 ||
	    collect(target, profile, &error) < 0)
		fprintf(stderr, "example: %s\n", error.message);
	else
		status = pmp_profile_write(profile, pmp_format_find("pmp"), NULL, &sink, &error);
	pmp_target_close(target);
	pmp_profile_free(profile);
	pmp_symbolizer_free(symbolizer);
	return status < 0;
}
