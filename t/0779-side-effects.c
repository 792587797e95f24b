/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture does to the process that makes it, and what that must not do: the
 * SIGCHLD of somebody else's child is not lost, stops are noticed where no SIGCHLD comes,
 * the scheduling policy is given back, threads that stop late do not wait for others.
 */
#include "lib/tap.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "lib/child.h"
#include "libpmp.h"

#define NOBODY 65534
#define MANY 24 /* threads that run: more than are stopped at a time */
#define SLEEPERS 400
#define CHILDREN 100
#define CAPTURES 30
#define UNKNOWN 99     /* no policy */
#define CHECK_EVERY 20 /* threads */

/* ---- the target ---------------------------------------------------------------- */

static bool start_threads(void *(*run)(void *), int count)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool good = pthread_attr_init(&attr) == 0 &&
		    pthread_attr_setstacksize(&attr, 64 << 10) == 0;

	for (int i = 0; i < count; i++)
		good &= pthread_create(&thread, &attr, run, NULL) == 0;
	return good;
}

static bool one_runs(const struct child *self, void *arg)
{
	(void)self;
	(void)arg;
	return start_threads(spin, 1);
}

static bool some_run(const struct child *self, void *arg)
{
	(void)self;
	(void)arg;
	return start_threads(spin, MANY) && start_threads(sleep_on, SLEEPERS);
}

/* ---- no SIGCHLD ------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t shortest;

/* On one processor the target comes to its stop only while we sleep. */
static void *capture_many(void *arg)
{
	const struct child *child = arg;
	struct pmp_target *target = NULL;

	shortest = UINT64_MAX;
	if (pmp_target_open(child->pid, NULL, &target, NULL))
		return NULL;
	for (int i = 0; i < CAPTURES; i++) {
		struct pmp_sample *sample = NULL;
		uint64_t start = now_ns(), time;

		if (pmp_target_capture(target, &sample, NULL) == 0) {
			time = now_ns() - start;
			shortest = time < shortest ? time : shortest;
		}
		pmp_sample_free(sample);
		while (pmp_target_reap(target))
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	pmp_target_close(target);
	return NULL;
}

static void ignore(int number)
{
	(void)number;
}

static void check_wakes(const char *text, const struct sigaction *action, bool in_thread)
{
	struct sigaction before;
	struct child child;
	pthread_t thread;

	sigaction(SIGCHLD, action, &before);
	if (!ok(child_start(&child, one_runs, NULL), "a process"))
		return;
	if (in_thread && pthread_create(&thread, NULL, capture_many, &child) == 0)
		pthread_join(thread, NULL);
	else
		capture_many(&child);
	ok(shortest < 900000, "%s: a stop is noticed in less than 1 ms: %lu us", text,
	   (unsigned long)(shortest / 1000));
	sigaction(SIGCHLD, &before, NULL);
	child_end(&child);
}

static void check_no_sigchld(void)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL },
			       ignored = { .sa_handler = SIG_IGN },
			       no_stops = { .sa_handler = ignore,
					    .sa_flags = SA_NOCLDSTOP | SA_RESTART };

	check_wakes("as usual", &usual, false);
	check_wakes("SIGCHLD is ignored", &ignored, false);
	check_wakes("none is sent for stops", &no_stops, false);
	check_wakes("in a thread", &usual, true);
}

/* ---- the SIGCHLD of others --------------------------------------------------------- */

static atomic_int reaped, forked;

/* As programs do that have a thread for signals. */
static void *reap_children(void *arg)
{
	const sigset_t *set = arg;
	int number;

	while (reaped < CHILDREN && sigwait(set, &number) == 0) {
		pid_t pid = forked;

		if (number == SIGCHLD && pid && waitpid(pid, NULL, WNOHANG) == pid) {
			forked = 0;
			reaped++;
		}
		if (number == SIGUSR1)
			break;
	}
	return NULL;
}

/* One that ends in a moment. */
static void fork_short(int i)
{
	pid_t pid = fork();

	if (pid == 0) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000 * (i % 30) }, NULL);
		_exit(0);
	}
	forked = pid;
}

static bool is_reaped(void *arg)
{
	(void)arg;
	return forked == 0;
}

static void check_others(void)
{
	struct pmp_target *target = NULL;
	struct child child;
	pthread_t thread;
	sigset_t set, before;
	int lost = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	if (!ok(child_start(&child, one_runs, NULL) &&
			pmp_target_open(child.pid, NULL, &target, NULL) == 0,
		"a process"))
		return;
	pthread_create(&thread, NULL, reap_children, &set);
	for (int i = 0; i < CHILDREN && !lost; i++) {
		struct pmp_sample *sample = NULL;

		fork_short(i);
		pmp_target_capture(target, &sample, NULL);
		pmp_sample_free(sample);
		while (pmp_target_reap(target))
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		lost += !wait_until(is_reaped, NULL);
	}
	is_int(lost, 0, "a thread that waits for SIGCHLD hears of each child that ends");
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pmp_target_close(target);
	child_end(&child);
}

/* ---- scheduling --------------------------------------------------------------------- */

static int policy_after(int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	struct pmp_target *target = NULL;
	struct pmp_sample *sample = NULL;
	struct child child;
	int after = UNKNOWN;

	if (child_start(&child, one_runs, NULL) &&
	    pmp_target_open(child.pid, NULL, &target, NULL) == 0 &&
	    sched_setscheduler(0, policy, &param) == 0 &&
	    pmp_target_capture(target, &sample, NULL) == 0) {
		while (pmp_target_reap(target))
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		after = sched_getscheduler(0);
	}
	pmp_sample_free(sample);
	pmp_target_close(target);
	child_end(&child);
	return after;
}

/* In a process of its own, as what it does lasts; user 0: as it is. */
static int policy_in_child(uid_t user, int policy, int priority)
{
	const struct rlimit limit = { 1, 1 };
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (user &&
		    (setrlimit(RLIMIT_RTPRIO, &limit) || setresuid(user, user, user)))
			_exit(UNKNOWN);
		prctl(PR_SET_DUMPABLE, 1);
		_exit(policy_after(policy, priority));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : UNKNOWN;
}

static void check_scheduling(void)
{
	int policy;

	is_int(policy_in_child(0, SCHED_BATCH, 0), SCHED_BATCH,
	       "the policy is given back");
	policy = policy_in_child(0, SCHED_FIFO, 1);
	if (policy == UNKNOWN)
		diag("no priority for us");
	else
		is_int(policy, SCHED_FIFO, "a priority of its own stays");
	policy = policy_in_child(NOBODY, SCHED_OTHER, 0);
	if (policy == UNKNOWN)
		diag("no limit can be raised");
	else
		is_int(policy, SCHED_OTHER,
		       "the policy is given back without privileges");
}

/* What sched_getattr(2) says of an ordinary thread. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice, unused[2];
};

static void check_slice(void)
{
	struct attributes mine = { .size = sizeof(mine), .nice = 1, .slice = 300000 };
	struct attributes first = { 0 }, before = { 0 }, after = { 0 };
	struct child child;

	syscall(SYS_sched_getattr, 0, &first, sizeof(first), 0);
	syscall(SYS_sched_setattr, 0, &mine, 0);
	syscall(SYS_sched_getattr, 0, &before, sizeof(before), 0);
	if (!ok(child_start(&child, one_runs, NULL), "a process to be captured"))
		return;
	capture_many(&child);
	syscall(SYS_sched_getattr, 0, &after, sizeof(after), 0);
	ok(before.nice == 1 && memcmp(&before, &after, sizeof(before)) == 0,
	   "nice value and slice are given back");
	syscall(SYS_sched_setattr, 0, &first, 0);
	child_end(&child);
}

/* ---- late threads -------------------------------------------------------------------- */

struct stays {
	pid_t pid, stopped[MANY];
	size_t asked, count, stayed;
};

static char state_of(pid_t pid, pid_t tid)
{
	char path[64], text[256] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return '?';
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

/* Those that were stopped the last time, and still are, ... */
static void count_stayed(struct stays *stays)
{
	for (size_t i = 0; i < stays->count; i++)
		stays->stayed += state_of(stays->pid, stays->stopped[i]) == 't';
}

/* ... and those that are now. */
static void find_stopped(struct stays *stays)
{
	struct dirent *entry;
	char path[64];
	DIR *task;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)stays->pid);
	task = opendir(path);
	stays->count = 0;
	while (task && stays->count < MANY && (entry = readdir(task)))
		if (state_of(stays->pid, atoi(entry->d_name)) == 't')
			stays->stopped[stays->count++] = atoi(entry->d_name);
	if (task)
		closedir(task);
}

/* As if it took long to read the stacks of the others. */
static bool count_slowly(void *arg, pid_t tid, const char *name)
{
	struct stays *stays = arg;

	(void)tid;
	(void)name;
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (++stays->asked % CHECK_EVERY)
		return true;
	count_stayed(stays);
	find_stopped(stays);
	return true;
}

static void check_late(void)
{
	const char *fault = getenv("PMP_FAULT");
	struct stays stays = { .asked = 0 };
	const struct pmp_target_options options = { .size = sizeof(options),
						    .want_thread = count_slowly,
						    .want_arg = &stays };
	struct pmp_target *target = NULL;
	struct pmp_sample *sample = NULL;
	char with[256], before[128];
	struct child child;

	if (!ok(child_start(&child, some_run, NULL) &&
			pmp_target_open(child.pid, &options, &target, NULL) == 0,
		"a process"))
		return;
	stays.pid = child.pid;
	snprintf(before, sizeof(before), "%s", fault ? fault : "");
	snprintf(with, sizeof(with), "%s,always-late", before);
	setenv("PMP_FAULT", with, 1);
	pmp_target_capture(target, &sample, NULL);
	setenv("PMP_FAULT", before, 1);
	pmp_sample_free(sample);
	ok(stays.asked >= MANY + SLEEPERS, "%zu threads were looked at", stays.asked);
	is_int((long)stays.stayed, 0, "none that stopped late has waited for the others");
	while (pmp_target_reap(target))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	pmp_target_close(target);
	child_end(&child);
}

static void use_one_processor(cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(*before), before);
	while (!CPU_ISSET(cpu, before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(void)
{
	cpu_set_t before;

	use_one_processor(&before);
	check_no_sigchld();
	check_others();
	sched_setaffinity(0, sizeof(before), &before);
	check_scheduling();
	check_slice();
	check_late();
	return done_testing();
}
