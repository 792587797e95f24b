/* SPDX-License-Identifier: GPL-2.0-or-later */
/* New processes are found, each with its parent and its session; threads and the dead
 * are none. */
#include "lib/tap.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpmp-program.h"

static struct pmp_procwatch *watch;
static struct pmp_new_process *list;
static size_t count;

static void scan(void)
{
	struct pmp_error err = { 0 };

	is_int(pmp_procwatch_next(watch, &list, &count, &err), 0, "a scan");
}

static const struct pmp_new_process *find(pid_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i].pid == pid)
			return &list[i];
	}
	return NULL;
}

/* A child that waits for its end; of a session of its own if asked for. */
static pid_t bear(bool leads)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (pid == 0) {
		if (leads)
			setsid();
		close(ready[0]);
		close(ready[1]);
		pause();
		_exit(0);
	}
	close(ready[1]);
	while (read(ready[0], &c, 1) > 0)
		;
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void *idle(void *arg)
{
	*(pid_t *)arg = gettid();
	pause();
	return NULL;
}

static void test_new(void)
{
	pid_t old = bear(false), young, leader, tid = 0, zombie;
	const struct pmp_new_process *found;
	pthread_t thread;
	size_t all;

	scan();
	all = count;
	ok(find(getpid()) && find(old), "at first all processes");
	found = find(old);
	ok(found && found->parent == getpid() && found->session == getsid(0),
	   "with parent and session");
	young = bear(false);
	leader = bear(true);
	zombie = bear(false);
	kill(zombie, SIGKILL);
	waitid(P_PID, (id_t)zombie, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	is_int(pthread_create(&thread, NULL, idle, &tid), 0, "a thread");
	while (!__atomic_load_n(&tid, __ATOMIC_SEQ_CST))
		usleep(1000);
	scan();
	ok(find(young) != NULL, "then what is new");
	found = find(leader);
	ok(found && found->session == leader && found->parent == getpid(),
	   "one that leads a session");
	ok(!find(zombie), "not one that has ended");
	ok(!find(tid), "no thread");
	ok(all < 100 || count < all, "not all once more");
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	end(old);
	end(young);
	end(leader);
	waitpid(zombie, NULL, 0);
	for (int i = 0; i < 3; i++)
		scan();
	ok(!find(young), "nothing of those that are gone");
}

/* By so much the ids grow that never were, as that many children have lived and gone. */
static uint64_t unseen_of(int children)
{
	uint64_t before;

	scan();
	before = pmp_procwatch_unseen(watch);
	for (int i = 0; i < children; i++)
		end(bear(false));
	scan();
	return pmp_procwatch_unseen(watch) - before;
}

/* Others may begin and end, too: there are no fewer than ours. Only when another was
 * just starting at the first scan, or the ids started again, there are: then repeat. */
static bool counts(int children)
{
	for (int i = 0; i < 20; i++) {
		uint64_t unseen = unseen_of(children);

		if (unseen >= (uint64_t)children && unseen < UINT32_MAX)
			return true;
	}
	return false;
}

static void test_unseen(void)
{
	pid_t lasting;

	ok(counts(5), "some have been there unseen");
	ok(counts(100), "more than are scanned again");
	lasting = bear(false);
	scan();
	ok(find(lasting) != NULL, "after them one is seen that lasts");
	end(lasting);
}

int main(void)
{
	struct pmp_error err = { 0 };

	is_int(pmp_procwatch_new(&watch, &err), 0, "begin");
	test_new();
	test_unseen();
	pmp_procwatch_free(watch);
	pmp_procwatch_free(NULL);
	return done_testing();
}
