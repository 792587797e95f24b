/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits: a thread for each kind of timed wait, again and again. A twin process
 * that is not profiled does the same, for what the machine itself is late.
 *
 * Verdict: no wait ended early, none was later than twice the twin's latest by more than
 * 200 ms.
 */
#include "target.h"

#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>

#define WAIT_MS 150
#define LATE_LIMIT 200000000 /* ns over twice the twin's */

struct record {
	atomic_ullong late;  /* ns, the worst */
	atomic_ullong early; /* waits that ended before their time */
	atomic_ullong waits;
};

static const struct timespec period = { 0, WAIT_MS * 1000000L };

static int wait_nanosleep(void)
{
	return nanosleep(&period, NULL);
}

static int wait_absolute(void)
{
	uint64_t end = target_now() + WAIT_MS * UINT64_C(1000000);
	struct timespec until = { (time_t)(end / 1000000000), (long)(end % 1000000000) };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int wait_poll(void)
{
	return poll(NULL, 0, WAIT_MS);
}

static int wait_ppoll(void)
{
	return ppoll(NULL, 0, &period, NULL);
}

static int wait_select(void)
{
	struct timeval time = { 0, WAIT_MS * 1000 };

	return select(0, NULL, NULL, NULL, &time);
}

static int wait_futex(void)
{
	uint32_t word = 0;

	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &period, NULL, 0);
}

static int wait_semaphore(void)
{
	struct timespec until;
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return sem_timedwait(&semaphore, &until);
}

static int wait_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);
	int result = epoll_wait(fd, &event, 1, WAIT_MS);

	close(fd);
	return result;
}

static int (*const kinds[])(void) = {
	wait_nanosleep, wait_absolute, wait_poll,      wait_ppoll,
	wait_select,	wait_futex,    wait_semaphore, wait_epoll,
};

#define KINDS (sizeof kinds / sizeof *kinds)

static const char *const names[KINDS] = {
	"nanosleep", "absolute", "poll", "ppoll", "select", "futex", "semaphore", "epoll",
};

static struct record *records; /* shared: ours, then the twin's */

static void wait_for_ever(struct record *record, int (*kind)(void))
{
	uint64_t start, took, late;

	for (;;) {
		start = target_now();
		kind();
		took = target_now() - start;
		if (took < (WAIT_MS - 1) * UINT64_C(1000000))
			record->early++;
		late = took > WAIT_MS * UINT64_C(1000000)
			       ? took - WAIT_MS * UINT64_C(1000000)
			       : 0;
		if (late > record->late)
			record->late = late;
		record->waits++;
	}
}

static void ours_main(void *arg)
{
	size_t kind = (size_t)(uintptr_t)arg;

	wait_for_ever(&records[kind], kinds[kind]);
}

static void twins_main(void *arg)
{
	size_t kind = (size_t)(uintptr_t)arg;

	wait_for_ever(&records[KINDS + kind], kinds[kind]);
}

static void start_all(void (*function)(void *arg))
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		target_thread(names[i], function, (void *)(uintptr_t)i);
}

static pid_t start_twin(void)
{
	pid_t parent = getpid(), twin = fork();

	if (twin != 0)
		return twin;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	start_all(twins_main);
	for (;;)
		pause();
}

int main(void)
{
	unsigned long long late, twin_late = 0;
	pid_t twin;
	size_t i;

	target_begin();
	records = mmap(NULL, 2 * KINDS * sizeof *records, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (records == MAP_FAILED)
		target_die("mmap");
	twin = start_twin();
	if (twin < 0)
		target_die("fork");
	start_all(ours_main);
	while (!records[KINDS].waits)
		target_nap(1);
	target_ready();
	target_wait_end();
	kill(twin, SIGKILL);
	waitpid(twin, NULL, 0);
	for (i = 0; i < KINDS; i++) {
		late = records[KINDS + i].late;
		twin_late = late > twin_late ? late : twin_late;
	}
	for (i = 0; i < KINDS; i++) {
		late = records[i].late;
		if (records[i].early)
			target_verdict("%s ended early %llu times", names[i],
				       (unsigned long long)records[i].early);
		if (late > 2 * twin_late + LATE_LIMIT)
			target_verdict("%s was %llu ms late, its twin at most %llu ms",
				       names[i], late / 1000000, twin_late / 1000000);
	}
	target_verdict(NULL);
}
