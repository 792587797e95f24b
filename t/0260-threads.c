/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a process: all of them, with any name, while they come and go. */
#include "lib/tap.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "proc/threads.h"
#include "lib/child.h"
#include "proc/open.h"

#define MANY 200

#ifdef SYS_pause
#define PAUSE SYS_pause
#else
#define PAUSE SYS_ppoll
#endif

static const char *const names[] = { "\033]0;x\a", "new\nline", "a) R 1 (b", "\xff\xfe",
				     "" };
#define NAMES (sizeof(names) / sizeof(*names))

/* ---- children ----------------------------------------------------------- */

static void *sleep_thread(void *name)
{
	if (name)
		prctl(PR_SET_NAME, name);
	for (;;)
		pause();
	return NULL;
}

static void *spin_thread(void *arg)
{
	volatile unsigned long n = 0;

	(void)arg;
	for (;;)
		n++;
	return NULL;
}

static void *short_thread(void *arg)
{
	return arg;
}

static bool start_thread(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool good;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	good = pthread_create(&thread, &attr, run, arg) == 0;
	pthread_attr_destroy(&attr);
	return good;
}

static bool many(const struct child *self, void *arg)
{
	bool good = start_thread(spin_thread, NULL);

	(void)self;
	(void)arg;
	for (size_t i = 0; i < MANY - 2; i++)
		good &= start_thread(sleep_thread, i < NAMES ? (void *)names[i] : NULL);
	return good;
}

static bool churn(const struct child *self, void *arg)
{
	(void)arg;
	child_answer(self, true);
	for (;;)
		start_thread(short_thread, NULL);
	return true;
}

/* ---- tests -------------------------------------------------------------- */

struct subject {
	struct child child;
	struct pmp_process process;
	pid_t *tids;
	size_t capacity, count;
};

static bool begin(struct subject *subject, bool (*prepare)(const struct child *, void *))
{
	*subject = (struct subject){ 0 };
	return ok(child_start(&subject->child, prepare, NULL) &&
			  pmp_process_open(subject->child.pid, &subject->process, NULL) ==
				  0,
		  "a process");
}

static void end(struct subject *subject)
{
	pmp_process_close(&subject->process);
	child_end(&subject->child);
	free(subject->tids);
}

static int list(struct subject *subject)
{
	return pmp_threads_list(&subject->process, &subject->tids, &subject->capacity,
				&subject->count);
}

/* Ascending, without doubles, the leader among them. */
static bool sound(const struct subject *subject)
{
	bool leader = subject->count && subject->tids[0] == subject->child.pid;

	for (size_t i = 1; i < subject->count; i++) {
		if (subject->tids[i] <= subject->tids[i - 1])
			return false;
		leader |= subject->tids[i] == subject->child.pid;
	}
	return leader;
}

/* All threads that are to sleep do, under their names. */
static bool all_asleep(void *arg)
{
	struct subject *subject = arg;
	struct pmp_thread thread;
	struct pmp_inspection inspected;
	size_t found = 0, asleep = 0;

	list(subject);
	for (size_t i = 0; i < subject->count; i++) {
		if (pmp_thread_inspect(&subject->process, subject->tids[i], false,
				       &thread, &inspected) ||
		    thread.syscall != PAUSE)
			continue;
		asleep++;
		for (size_t n = 0; n < NAMES; n++)
			found += strcmp(thread.name, names[n]) == 0;
	}
	return asleep == MANY - 2 && found == NAMES;
}

static void check_thread(const struct pmp_thread *thread,
			 const struct pmp_inspection *inspected,
			 const struct subject *subject, unsigned counts[3])
{
	bool common = inspected->tgid == subject->child.pid && !inspected->tracer &&
		      inspected->seccomp >= 0;

	if (common && thread->syscall == PAUSE && inspected->pc && inspected->sp &&
	    thread->sp == inspected->sp && thread->state == 'S' && thread->wchan[0])
		counts[0]++;
	else if (common && thread->syscall == PMP_SYSCALL_UNKNOWN && !inspected->pc &&
		 !thread->sp && thread->state == 'R' && !thread->wchan[0])
		counts[1]++;
	else if (common && thread->tid == subject->child.pid)
		counts[2]++;
}

static void test_many(void)
{
	struct subject subject;
	struct pmp_thread thread;
	struct pmp_inspection inspected;
	unsigned counts[3] = { 0 };

	if (!begin(&subject, many))
		return;
	ok(wait_until(all_asleep, &subject),
	   "names with ESC, newline and parenthesis are whole");
	is_int(list(&subject), 0, "listed");
	is_int(subject.count, MANY, "all threads");
	ok(sound(&subject), "in ascending order, the leader among them");
	for (size_t i = 0; i < subject.count; i++) {
		memset(&thread, 0xff, sizeof(thread));
		if (pmp_thread_inspect(&subject.process, subject.tids[i], false, &thread,
				       &inspected) == 0 &&
		    pmp_thread_inspect_more(&subject.process, subject.tids[i],
					    &inspected) == 0)
			check_thread(&thread, &inspected, &subject, counts);
	}
	is_int(counts[0], MANY - 2, "sleeping threads: call, sp, pc, wait channel");
	is_int(counts[1], 1, "a running thread: nothing of the kind");
	is_int(counts[2], 1, "the leader");
	ok(pmp_thread_inspect(&subject.process, getpid(), false, &thread, &inspected) ==
		   PMP_ESRCH,
	   "a thread of another process");
	kill(subject.child.pid, SIGKILL);
	waitpid(subject.child.pid, NULL, 0);
	subject.child.pid = 0;
	is_int(list(&subject), PMP_ESRCH, "the process has ended");
	is_int(subject.count, 0, "it has no threads");
	is_int(pmp_thread_inspect(&subject.process, subject.tids[0], false, &thread,
				  &inspected),
	       PMP_ESRCH, "its leader has ended");
	end(&subject);
}

static void test_churn(void)
{
	struct subject subject;
	struct pmp_thread thread;
	struct pmp_inspection inspected;
	unsigned wrong = 0, seen = 0, gone = 0;

	if (!begin(&subject, churn))
		return;
	for (unsigned round = 0; round < 200; round++) {
		wrong += list(&subject) != 0 || !sound(&subject);
		for (size_t i = 0; i < subject.count; i++) {
			int result = pmp_thread_inspect(&subject.process, subject.tids[i],
							false, &thread, &inspected);

			if (result == 0)
				result = pmp_thread_inspect_more(
					&subject.process, subject.tids[i], &inspected);
			seen += result == 0;
			gone += result == PMP_ESRCH;
			wrong += result ? result != PMP_ESRCH
					: inspected.tgid != subject.child.pid;
		}
	}
	is_int(wrong, 0, "no wrong thread while they come and go");
	ok(seen >= 200, "%u seen, %u had ended", seen, gone);
	end(&subject);
}

int main(void)
{
	test_many();
	test_churn();
	return done_testing();
}
