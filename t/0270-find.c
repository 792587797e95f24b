/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes by name. */
#include "lib/tap.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "lib/child.h"
#include "libpmp-program.h"

/* A name that nobody else has; the kernel keeps 15 characters. */
static char unique[16], program[64];

static bool named(const struct child *self, void *name)
{
	(void)self;
	return prctl(PR_SET_NAME, name) == 0;
}

static bool contains(const pid_t *pids, int count, pid_t pid)
{
	for (int i = 0; i < count; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

/* The number of processes that match, and whether pid is one of them. */
static int find(const char *regex, pid_t pid, bool *found)
{
	pid_t *pids;
	int count = pmp_find_processes(regex, &pids, NULL);

	*found = contains(pids, count, pid);
	free(pids);
	return count;
}

static void test_identity(const char *regex, pid_t pid)
{
	struct pmp_found_process process = { .size = sizeof(process) };
	struct pmp_error err;

	is_int(pmp_find_process(regex, pid, &process, &err), 0, "one of them");
	is_str(process.name, unique, "its name");
	ok(process.user == getuid() && !process.changed_user, "its user");
	is_int(pmp_find_process("^no such name$", pid, &process, &err), PMP_ESRCH,
	       "another name");
	is_int(pmp_find_process("(", pid, &process, &err), PMP_EINVAL, "no expression");
}

static void test_names(void)
{
	struct child a, b;
	char regex[64];
	bool found;
	pid_t *pids;

	ok(child_start(&a, named, unique) && child_start(&b, named, unique),
	   "two processes");
	snprintf(regex, sizeof(regex), "^%s$", unique);
	is_int(pmp_find_processes(regex, &pids, NULL), 2, "are found");
	ok(pids[0] < pids[1] && contains(pids, 2, a.pid) && contains(pids, 2, b.pid),
	   "in ascending order");
	free(pids);
	test_identity(regex, a.pid);
	prctl(PR_SET_NAME, unique);
	is_int(find(regex, getpid(), &found), 2, "the caller is not");
	prctl(PR_SET_NAME, "0270-find");
	kill(b.pid, SIGKILL);
	waitid(P_PID, (id_t)b.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	is_int(find(regex, a.pid, &found), 1, "a zombie is not");
	ok(found, "the other one is");
	is_int(find("^no such name anywhere$", 0, &found), 0, "nothing matches");
	snprintf(regex, sizeof(regex), "^(%.4s|x{3})%s$", unique, unique + 4);
	is_int(find(regex, a.pid, &found), 1, "extended expressions");
	find(".", 2, &found);
	ok(!found, "no kernel thread");
	find(".", a.pid, &found);
	ok(found, "an expression that matches all");
	is_int(find("", 0, &found), PMP_EINVAL, "an empty one is none");
	is_int(find("(((((.*)*)*)*)*)*[!?]", 0, &found), PMP_ELIMIT,
	       "one that takes too many steps");
	child_end(&a);
	child_end(&b);
}

static void test_executable(void)
{
	struct child child;
	char regex[128];
	bool found;

	snprintf(program, sizeof(program), "/tmp/a-long-program-name-%d", (int)getpid());
	if (!ok(child_copy_self(program) && child_start(&child, child_execute, program),
		"a program"))
		goto out;
	snprintf(regex, sizeof(regex), "^%s$", program + strlen("/tmp/"));
	is_int(find(regex, child.pid, &found), 1, "found by more than 15 characters");
	unlink(program);
	is_int(find(regex, child.pid, &found), 1, "also when it has been deleted");
	child_end(&child);
out:
	unlink(program);
}

static void test_errors(void)
{
	struct pmp_error err;
	pid_t *pids = (pid_t *)&err;

	is_int(pmp_find_processes("a(\033", &pids, &err), PMP_EINVAL,
	       "an invalid expression");
	ok(pids == NULL, "gives nothing");
	ok(strstr(err.message, "invalid regular expression \"a(\\x1b\": ") ==
			   err.message &&
		   err.message[strlen(err.message) - 1] != ' ',
	   "says why: %s", err.message);
	is_int(pmp_thread_process(0), 0, "no thread 0");
	is_int(pmp_thread_process(-5), 0, "no thread -5");
}

int main(int argc, char **argv)
{
	char order;

	/* As the program of test_executable(): wait for the end of the test. */
	if (argc > 1)
		return read(atoi(argv[1]), &order, 1) != 0;
	snprintf(unique, sizeof(unique), "find%d", (int)getpid());
	test_names();
	test_executable();
	test_errors();
	return done_testing();
}
