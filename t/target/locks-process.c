/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of t/target/locks.c with child processes and semaphores of System V.
 */
#include "target.h"
#include "locks.h"

#include <sys/sem.h>
#include <sys/wait.h>

static int wait_child(void *arg)
{
	return waitpid(*(pid_t *)arg, NULL, 0) > 0 ? 0 : errno;
}

static void begin_nothing(void *arg)
{
	(void)arg;
}

static void wait_one(void)
{
	static pid_t child;
	struct actor *waiter;

	child = process_new("child", begin_nothing, NULL);
	waiter = actor_waits(wait_child, &child, CALL(wait4));
	truth(waiter, child, (uint64_t)child, "child", NULL);
}

static void wait_any(void)
{
	static pid_t any = -1;
	pid_t first = process_new("child", begin_nothing, NULL);
	pid_t second = process_new("child", begin_nothing, NULL);
	struct actor *waiter = actor_waits(wait_child, &any, CALL(wait4));

	truth(waiter, 0, 0, "child", " any=%d,%d", (int)first, (int)second);
}

/* The child has its parent's memory, and may do no more than call the kernel. */
static int call_vfork(void *arg)
{
	pid_t volatile *child_id = arg;
	pid_t child = vfork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*child_id = (pid_t)syscall(SYS_getpid);
		actor_rest();
	}
	return child > 0 ? 0 : errno;
}

static void show_vfork(void)
{
	static pid_t volatile child;
#ifdef SYS_vfork
	struct actor *waiter = actor_waits(call_vfork, (void *)&child, CALL(vfork));
#else
	struct actor *waiter = actor_waits(call_vfork, (void *)&child, CALL(clone));
#endif

	while (!child)
		target_nap(1);
	truth(waiter, child, 0, "vfork", NULL);
}

static int semaphores; /* the id of the set */

/* Not semop(), which is another call in some C libraries. */
static int take_semaphore(void *id)
{
	struct sembuf take = { .sem_num = 0, .sem_op = -1 };

	return syscall(SYS_semop, *(int *)id, &take, 1) == 0 ? 0 : errno;
}

static int take_semaphore_timed(void *id)
{
	struct sembuf take = { .sem_num = 0, .sem_op = -1 };
	struct timespec timeout = { .tv_sec = LOCKS_TIMEOUT };

	return semtimedop(*(int *)id, &take, 1, &timeout) == 0 ? 0 : errno;
}

static void remove_semaphores(int signal)
{
	(void)signal;
	_exit(semctl(semaphores, 0, IPC_RMID) == 0 ? 0 : 1);
}

/* In the child, which outlives its parent long enough to remove what only it would keep. */
static void make_and_take(void *arg)
{
	struct sembuf give = { .sem_num = 0, .sem_op = 1 };
	pid_t parent = getppid();

	(void)arg;
	signal(SIGUSR2, remove_semaphores);
	semaphores = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	prctl(PR_SET_PDEATHSIG, SIGUSR2);
	if (getppid() != parent)
		remove_semaphores(0);
	if (semaphores < 0 || semop(semaphores, &give, 1) != 0 ||
	    take_semaphore(&semaphores) != 0)
		target_die("the child's semaphore");
	locks_shared->number = semaphores;
}

static void take_in_child(locks_call wait, const char *more, long call, const char *name)
{
	pid_t child = process_new("lockowner", make_and_take, NULL);
	struct actor *waiter;

	semaphores = locks_shared->number;
	waiter = actor_waits(wait, &semaphores, call, name);
	truth(waiter, child, (uint64_t)semaphores, "semop", " number=0%s", more);
}

static void show_semop(void)
{
	take_in_child(take_semaphore, "", CALL(semop));
}

static void show_semtimedop(void)
{
	take_in_child(take_semaphore_timed, " timed=1", CALL(semtimedop));
}

const struct kind locks_process_kinds[] = {
	{ "wait-one", wait_one },	   { "wait-any", wait_any },
	{ "vfork", show_vfork },	   { "semop", show_semop },
	{ "semtimedop", show_semtimedop }, { NULL, NULL },
};
