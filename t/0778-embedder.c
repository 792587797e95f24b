/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library in somebody else's program: another thread takes all that waitpid(-1)
 * gives, targets are closed while threads of them are awaited, signals and scheduling
 * are to be left alone. No thread of the target may stay stopped.
 */
#include "lib/tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "lib/child.h"
#include "lib/descriptors.h"
#include "libpmp.h"

#define SPINNERS 3
#define SLEEPERS 400
#define CAPTURES 100

static struct page {
	atomic_int received; /* signals */
} * page;

/* ---- the target ---------------------------------------------------------------- */

static void on_signal(int number)
{
	(void)number;
	page->received++;
}

static bool spinners(const struct child *self, void *arg)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread;
	bool good = sigaction(SIGRTMIN, &action, NULL) == 0;

	(void)self;
	(void)arg;
	for (int i = 0; i < SPINNERS; i++)
		good &= pthread_create(&thread, NULL, spin, NULL) == 0;
	return good;
}

/* ---- looks at it --------------------------------------------------------------- */

/* No thread of it is traced or stopped. */
static bool is_free(const struct child *child)
{
	char command[160];

	snprintf(
		command, sizeof(command),
		"! cat /proc/%d/task/*/status | grep -Eq '^TracerPid:\\s*[1-9]|^State:\\s*[tT]'",
		(int)child->pid);
	return system(command) == 0;
}

static bool is_soon_free(const struct child *child)
{
	for (int i = 0; i < 200; i++) {
		if (is_free(child))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return false;
}

/* One whose threads are traced has no end that could be waited for. */
static void end_child(struct child *child)
{
	if (!is_free(child))
		exit(done_testing());
	child_end(child);
}

static void *take_reports(void *arg)
{
	atomic_bool *end = arg;
	int status;

	while (!*end)
		waitpid(-1, &status, WNOHANG);
	return NULL;
}

static bool settle(struct pmp_target *target)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < 2000; i++) {
		if (pmp_target_reap(target) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* ---- checks --------------------------------------------------------------------- */

static void capture_many(struct child *child, const struct pmp_target_options *options,
			 const char *text)
{
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_target *target = NULL;
	size_t stopped = 0, missed = 0;
	int sent = 0;

	page->received = 0;
	if (!ok(pmp_target_open(child->pid, options, &target, NULL) == 0, "%s: opened",
		text))
		return;
	for (int i = 0; i < CAPTURES; i++) {
		struct pmp_sample *sample;

		sent += sigqueue(child->pid, SIGRTMIN, (union sigval){ 0 }) == 0;
		if (pmp_target_capture(target, &sample, NULL) < 0)
			continue;
		pmp_sample_info(sample, &info);
		stopped += info.n_stopped;
		missed +=
			info.threads - info.n_stopped - info.n_peeked - info.n_unchanged;
		pmp_sample_free(sample);
		if (!settle(target))
			break;
	}
	pmp_target_close(target);
	ok(stopped >= CAPTURES, "%s: %zu threads were stopped, %zu not in time", text,
	   stopped, missed);
	ok(is_soon_free(child), "%s: none stays stopped", text);
	for (int i = 0; i < 5000 && page->received < sent; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	is_int(page->received, sent, "%s: no signal is lost", text);
}

static void check_reports(void)
{
	const struct pmp_target_options together = { .size = sizeof(together),
						     .stop = PMP_STOP_ALL };
	atomic_bool end = false;
	struct child child;
	pthread_t thief;

	if (!ok(child_start(&child, spinners, NULL), "a process"))
		return;
	pthread_create(&thief, NULL, take_reports, &end);
	capture_many(&child, NULL, "a thread takes reports");
	capture_many(&child, &together, "a thread takes reports, all together");
	end = true;
	pthread_join(thief, NULL);
	end_child(&child);
}

static struct {
	atomic_bool end;
	atomic_int policies; /* a bit for each that was seen */
	pid_t capturer;
} watched;

static void *watch_policy(void *arg)
{
	while (!watched.end)
		watched.policies |= 1 << sched_getscheduler(watched.capturer);
	return arg;
}

static atomic_int others;

static void on_child(int number)
{
	(void)number;
	others++;
}

/* What a program may not want to be changed. */
static void check_kept(void)
{
	const struct pmp_target_options options = {
		.size = sizeof(options),
		.keep_sigchld = true,
		.keep_scheduling = true,
	};
	struct sigaction action = { .sa_handler = on_child }, before;
	struct child child;
	pthread_t watch;

	if (!ok(child_start(&child, spinners, NULL), "a process"))
		return;
	sigaction(SIGCHLD, &action, &before);
	watched.capturer = gettid();
	pthread_create(&watch, NULL, watch_policy, NULL);
	capture_many(&child, &options, "SIGCHLD is the program's own");
	watched.end = true;
	pthread_join(watch, NULL);
	ok(others > 0, "its handler sees the stops");
	is_int(watched.policies, 1 << SCHED_OTHER,
	       "the scheduling policy is not changed");
	sigaction(SIGCHLD, &before, NULL);
	end_child(&child);
}

/* Threads that do not stop in time (a planted fault) when their target is closed. */
static void close_early(struct child *child)
{
	const char *fault = getenv("PMP_FAULT");
	uint64_t held = 0;
	const struct pmp_target_options options = { .size = sizeof(options),
						    .held_since = &held };
	char with[256], before[128];
	struct pmp_target *target;
	struct pmp_sample *sample = NULL;

	snprintf(before, sizeof(before), "%s", fault ? fault : "");
	snprintf(with, sizeof(with), "%s,always-late,late-slow", before);
	setenv("PMP_FAULT", with, 1);
	if (ok(pmp_target_open(child->pid, &options, &target, NULL) == 0, "opened")) {
		pmp_target_capture(target, &sample, NULL);
		pmp_sample_free(sample);
		pmp_target_close(target);
	}
	setenv("PMP_FAULT", before, 1);
	ok(!is_free(child), "its target is closed while threads are awaited");
	is_int((long)held, 0, "nothing more is written where the time was");
}

/* One is not enough where a thread stops only after it, as on a busy machine. */
static void capture_until_free(struct pmp_target *target, const struct child *child)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct pmp_sample *sample;

	for (int i = 0; i < 200 && (i == 0 || !is_free(child)); i++) {
		if (pmp_target_capture(target, &sample, NULL) == 0)
			pmp_sample_free(sample);
		nanosleep(&pause, NULL);
	}
}

static void check_close(void)
{
	struct pmp_target *target;
	struct child child;

	if (!ok(child_start(&child, spinners, NULL), "a process"))
		return;
	close_early(&child);
	settle(NULL);
	is_int((long)pmp_target_reap(NULL), 0, "all are released when asked for");
	ok(is_soon_free(&child), "none stays stopped");
	close_early(&child);
	if (ok(pmp_target_open(child.pid, NULL, &target, NULL) == 0, "opened again")) {
		capture_until_free(target, &child);
		pmp_target_close(target);
	}
	ok(is_soon_free(&child), "later captures release them as well");
	end_child(&child);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void no_more(int number)
{
	(void)number;
}

/* While the program sleeps, threads that stop late are released. */
static void check_sleep(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct sigaction action = { .sa_handler = no_more }, before;
	struct pmp_target *target;
	struct child child;
	uint64_t start;

	if (!ok(child_start(&child, spinners, NULL), "a process"))
		return;
	close_early(&child);
	for (int i = 0; i < 20 && !is_free(&child); i++)
		pmp_target_sleep(NULL, 100000000);
	ok(is_free(&child), "threads that stop late are released in a sleep");
	is_int((long)pmp_target_reap(NULL), 0, "none is awaited any more");
	if (ok(pmp_target_open(child.pid, NULL, &target, NULL) == 0, "opened again")) {
		start = now_ns();
		pmp_target_sleep(target, 30000000);
		ok(now_ns() - start >= 30000000, "a sleep is as long as it is asked for");
		sigaction(SIGALRM, &action, &before);
		setitimer(ITIMER_REAL, &soon, NULL);
		start = now_ns();
		pmp_target_sleep(target, 60000000000);
		ok(now_ns() - start < 50000000000, "a signal ends it");
		sigaction(SIGALRM, &before, NULL);
		pmp_target_close(target);
	}
	end_child(&child);
}

static bool sleepers(const struct child *self, void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool good = pthread_attr_init(&attr) == 0 &&
		    pthread_attr_setstacksize(&attr, 64 << 10) == 0;

	(void)self;
	(void)arg;
	for (int i = 0; i < SLEEPERS; i++)
		good &= pthread_create(&thread, &attr, sleep_on, NULL) == 0;
	return good;
}

/* How many files the child, which is our copy, has mapped: each module is kept open. */
static int count_modules(void)
{
	char line[4096], last[4096] = "";
	FILE *maps = fopen("/proc/self/maps", "re");
	int count = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');

		if (!path || !strstr(line, ".so") || strcmp(path, last) == 0)
			continue;
		snprintf(last, sizeof(last), "%s", path);
		count++;
	}
	if (maps)
		fclose(maps);
	return count;
}

static void check_descriptors_of(struct child *child, unsigned asked, int most)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .descriptors = asked };
	int before = (int)count_descriptors(), modules = count_modules(), after;
	struct pmp_sample *sample = NULL;
	struct pmp_target *target;

	if (!ok(pmp_target_open(child->pid, &options, &target, NULL) == 0, "opened"))
		return;
	for (int i = 0; i < 2; i++) {
		is_int(pmp_target_capture(target, &sample, NULL), 0, "captured");
		pmp_sample_free(sample);
		sample = NULL;
	}
	after = (int)count_descriptors();
	ok(after >= before + most && after < before + most + 20 + modules,
	   "%d descriptors for %d threads are kept open", after - before, SLEEPERS);
	pmp_target_close(target);
	is_int(count_descriptors(), before, "none after it is closed");
}

static void check_descriptors(void)
{
	struct child child;

	if (!ok(child_start(&child, sleepers, NULL), "a process"))
		return;
	check_descriptors_of(&child, 0, 256);
	check_descriptors_of(&child, 10, 10);
	child_end(&child);
}

/* A capture that has no time left takes what it can without a stop. */
static void check_time(void)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .time_limit = 1 };
	struct pmp_thread_info thread = { .size = sizeof(thread) };
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_target *target = NULL;
	struct pmp_sample *sample = NULL;
	struct child child;
	size_t limited = 0;

	if (!ok(child_start(&child, spinners, NULL), "a process"))
		return;
	ok(pmp_target_open(child.pid, &options, &target, NULL) == 0,
	   "opened, for captures without time");
	/* On a busy machine it takes a while until all of them run, and the leader sleeps. */
	for (int tries = 0; tries < 100 && limited != SPINNERS; tries++) {
		pmp_sample_free(sample);
		sample = NULL;
		if (pmp_target_capture(target, &sample, NULL) < 0)
			break;
		pmp_sample_info(sample, &info);
		limited = 0;
		for (size_t i = 0; i < info.threads; i++) {
			pmp_sample_thread(sample, i, &thread);
			limited += strcmp(thread.reason, "time limit") == 0;
		}
		usleep(10000);
	}
	is_int((long)info.n_stopped, 0, "nothing is stopped");
	is_int((long)limited, SPINNERS, "the running threads say why");
	pmp_sample_free(sample);
	pmp_target_close(target);
	child_end(&child);
}

/* Memory runs out while the maps of the target are taken over. */
static void check_nomem(void)
{
	const char *fault = getenv("PMP_FAULT");
	struct pmp_target *target = NULL;
	struct pmp_sample *sample = NULL;
	struct child child;
	char before[128];

	snprintf(before, sizeof(before), "%s", fault ? fault : "");
	if (!ok(child_start(&child, spinners, NULL), "a process") ||
	    !ok(pmp_target_open(child.pid, NULL, &target, NULL) == 0, "opened"))
		return;
	setenv("PMP_FAULT", "maps-nomem", 1);
	is_int(pmp_target_capture(target, &sample, NULL), PMP_ENOMEM,
	       "no memory for the maps");
	setenv("PMP_FAULT", before, 1);
	is_int(pmp_target_capture(target, &sample, NULL), 0, "the next capture has them");
	pmp_sample_free(sample);
	pmp_target_close(target);
	/* On a busy machine one may have been asked to stop and have had no time for it. */
	while (pmp_target_reap(NULL) > 0)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	child_end(&child);
}

static void *close_in_thread(void *arg)
{
	close_early(arg);
	return NULL;
}

static void check_thread(void)
{
	struct child child;
	pthread_t thread;

	if (!ok(child_start(&child, spinners, NULL), "a process"))
		return;
	pthread_create(&thread, NULL, close_in_thread, &child);
	pthread_join(thread, NULL);
	ok(is_soon_free(&child), "the end of the thread that has captured releases them");
	end_child(&child);
}

int main(void)
{
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 99;
	check_reports();
	check_kept();
	check_close();
	check_sleep();
	check_thread();
	check_descriptors();
	check_time();
	check_nomem();
	return done_testing();
}
