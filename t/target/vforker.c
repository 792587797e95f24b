/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vforker [MS [THREADS [PAUSE]]]: threads "vforker" (default one) wait in vfork()
 * for a child that lives MS (default 5000) long: a D state, in which no stop is
 * possible. Then they nap for up to PAUSE ms, by chance, and begin again. Next to
 * them "sleeper" sleeps and "spinner" computes.
 *
 * Verdict: every child was waited for, with the status it ended with, and no
 * thread came back much later than its child had ended.
 */
#include "target.h"

#include <poll.h>
#include <sys/wait.h>

#define CHILD_STATUS 7
#define LATE_LIMIT 1000	     /* ms */
#define LATE_LIMIT_BUSY 2500 /* of those that never pause: they compete with each other */
#define MAX_THREADS 1000

static atomic_int wrong, ended, children, finished;
static atomic_ullong latest;		    /* ns */
static unsigned lifetime = 5000, max_pause; /* ms */

/* In the child, which has its parent's memory: nothing but system calls. */
static NOINLINE void live(void)
{
	struct timespec time = { lifetime / 1000, lifetime % 1000 * 1000000L };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nanosleep(&time, NULL);
	_exit(CHILD_STATUS);
}

static NOINLINE pid_t bear(void)
{
	pid_t child = vfork();

	if (child == 0)
		live();
	return child;
}

static void note_late(uint64_t took)
{
	uint64_t due = lifetime * UINT64_C(1000000);
	unsigned long long before = latest;

	while (took > due + before &&
	       !atomic_compare_exchange_weak(&latest, &before, took - due))
		;
}

static void vforker_main(void *arg)
{
	unsigned seed = (unsigned)gettid();
	uint64_t start;
	int status;
	pid_t child;

	while (!ended) {
		start = target_now();
		child = bear();
		if (child < 0 || waitpid(child, &status, 0) != child ||
		    !WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS)
			wrong++;
		note_late(target_now() - start);
		children++;
		if (max_pause)
			target_nap((unsigned)rand_r(&seed) % max_pause);
	}
	finished++;
	(void)arg;
}

static NOINLINE void sleeper_main(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	(void)arg;
}

static NOINLINE void spinner_main(void *arg)
{
	volatile uint64_t work = 0;

	for (;;)
		work++;
	(void)arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	uint64_t deadline, limit;
	int i;

	if (threads < 1 || threads > MAX_THREADS)
		return 2;
	target_begin();
	if (argc > 1)
		lifetime = (unsigned)atoi(argv[1]);
	if (argc > 3)
		max_pause = (unsigned)atoi(argv[3]);
	target_wait_asleep(target_thread("sleeper", sleeper_main, NULL));
	target_thread("spinner", spinner_main, NULL);
	for (i = 0; i < threads; i++)
		target_wait_asleep(target_thread("vforker", vforker_main, NULL));
	target_ready();
	target_wait_end();
	ended = 1;
	deadline = target_now() + lifetime * UINT64_C(1000000) +
		   TARGET_PATIENCE * UINT64_C(1000000000);
	while (finished < threads && target_now() < deadline)
		target_nap(1);
	if (finished < threads)
		target_verdict("vfork does not return");
	if (wrong)
		target_verdict("%d of %d children ended in another way", (int)wrong,
			       (int)children);
	limit = lifetime ? LATE_LIMIT : LATE_LIMIT_BUSY;
	if (latest > limit * 1000000)
		target_verdict("a thread came back %llu ms late",
			       (unsigned long long)latest / 1000000);
	target_verdict(NULL);
}
