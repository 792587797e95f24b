/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many threads that wait for locks of a file, each for another range: what is read for one
 * of them does not grow with their number, and there are signs of life in between. */
#include "lib/tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#include "lib/child.h"
#include "lib/reads.h"
#include "sample.h"

#define WAITERS 200
#define READS_EACH \
	60 /* with its stack; /proc/locks has as many lines for it as there are */

static int file;

static void *wait_for_range(void *arg)
{
	struct flock range = { .l_type = F_WRLCK,
			       .l_whence = SEEK_SET,
			       .l_start = (long)(intptr_t)arg,
			       .l_len = 1 };

	fcntl(file, F_SETLKW, &range);
	return NULL;
}

static bool serve(const struct child *self, void *arg)
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool started = true;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 16);
	for (intptr_t i = 0; i < WAITERS; i++)
		started &= pthread_create(&thread, &attributes, wait_for_range,
					  (void *)(2 * i)) == 0;
	return started && self && !arg;
}

static void on_alive(void *arg)
{
	++*(unsigned *)arg;
}

static unsigned known_waiters(const struct pmp_sample *sample)
{
	unsigned known = 0;

	for (size_t i = 0; i < sample->thread_count; i++)
		known += sample->threads[i].wait.kind == PMP_WAIT_FILE &&
			 sample->threads[i].wait.holder == getpid();
	return known;
}

/* A capture that finds all of them asleep. */
static void check_captures(struct pmp_target *target, const unsigned *beats)
{
	unsigned long before = 0, after = 0;
	unsigned known = 0, beats_before = 0;

	for (int i = 0; i < 1000 && known < WAITERS; i++) {
		struct pmp_sample *sample;

		before = reads();
		beats_before = *beats;
		if (pmp_target_capture(target, &sample, NULL) < 0)
			break;
		after = reads();
		known = known_waiters(sample);
		pmp_sample_free(sample);
		usleep(10000);
	}
	is_int(known, WAITERS, "threads that wait for this process");
	ok(*beats - beats_before >= 3 * WAITERS, "signs of life: %u",
	   *beats - beats_before);
	if (!before)
		skip("this kernel does not count reads");
	else
		ok(after - before < (unsigned long)WAITERS * READS_EACH,
		   "few reads for each: %lu", (after - before) / WAITERS);
}

int main(void)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	unsigned beats = 0;
	const struct pmp_target_options options = { .size = sizeof(options),
						    .waits = PMP_WAITS_PEERS,
						    .alive = on_alive,
						    .alive_arg = &beats };
	struct pmp_target *target = NULL;
	struct child child = { 0 };

	file = open("locked", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (!ok(file >= 0 && fcntl(file, F_SETLK, &all) == 0, "a file that is locked"))
		return done_testing();
	if (ok(child_start(&child, serve, NULL) &&
		       pmp_target_open(child.pid, &options, &target, NULL) == 0,
	       "a process of many threads"))
		check_captures(target, &beats);
	pmp_target_close(target);
	child_end(&child);
	unlink("locked");
	return done_testing();
}
