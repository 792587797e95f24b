/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends by a signal and leaves a core: crash fault|nested|abort|live.
 *
 *	fault	a thread reads at address 24 in f0 f1 f2
 *	nested	so, and its handler, on a stack of its own, does it once more
 *	abort	the thread calls abort()
 *	live	nothing: for a debugger, which writes the core
 *
 * Meanwhile two threads wait for a mutex that the first thread holds, which waits for the
 * crashing one.
 */
#include "target.h"

#include <semaphore.h>

#define WAITERS 2

static pthread_mutex_t crash_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready;
static pid_t tids[1 + WAITERS]; /* of the first thread, and of those that wait */
static const char *mode;
static volatile int *volatile nowhere = (int *)24;
static volatile int sink;

static NOINLINE int f0(int x)
{
	if (strcmp(mode, "abort") == 0)
		abort();
	while (strcmp(mode, "live") == 0)
		sink++;
	return *nowhere + x;
}

static NOINLINE int f1(int x)
{
	return f0(x + 1) + 1;
}

static NOINLINE int f2(int x)
{
	return f1(x + 1) + 1;
}

/* The second fault in it is not handled any more. */
static NOINLINE void on_fault(int number)
{
	signal(number, SIG_DFL);
	sink = *nowhere;
}

static void *wait_for_lock(void *arg)
{
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	sem_post(&ready);
	pthread_mutex_lock(&crash_lock);
	return arg;
}

static bool is_blocked(const char *what)
{
	char line[64] = "";
	FILE *file = fopen(what, "r");

	if (!file)
		target_die(what);
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return atoi(line) == SYS_futex;
}

/* Until all other threads are where they are to be. */
static void await_others(void)
{
	char path[64];

	for (int i = 0; i <= WAITERS; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tids[i]);
		while (!is_blocked(path))
			usleep(1000);
	}
}

static void *crash(void *arg)
{
	stack_t stack = { .ss_sp = malloc(TARGET_STACK), .ss_size = TARGET_STACK };
	struct sigaction action = { .sa_handler = on_fault,
				    .sa_flags = SA_ONSTACK | SA_NODEFER };

	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		target_die("sigaltstack");
	if (strcmp(mode, "nested") == 0)
		sigaction(SIGSEGV, &action, NULL);
	await_others();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	sink = f2(1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	mode = argc > 1 ? argv[1] : "fault";
	alarm(TARGET_LIFETIME);
	sem_init(&ready, 0, 0);
	pthread_mutex_lock(&crash_lock);
	tids[0] = getpid();
	for (int i = 1; i <= WAITERS; i++) {
		if (pthread_create(&thread, NULL, wait_for_lock, &tids[i]))
			target_die("pthread_create");
		sem_wait(&ready);
	}
	if (pthread_create(&thread, NULL, crash, NULL))
		target_die("pthread_create");
	pthread_join(thread, NULL);
	return 0;
}
