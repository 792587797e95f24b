/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process executes a setuid program at any moment of a capture by a user without rights: from
 * then on it is not his, and each failure says so.
 */
#include "lib/tap.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/child.h"
#include "lib/folder.h"
#include "libpmp.h"

#define PROCESSES 150
#define CAPTURES 1000000 /* at most */
#define TURNS 300000	 /* most of a millisecond or two, before the exec */
#define LIFE 20000	 /* us of the setuid program */
#define USER 65534

struct found {
	int failed, other, silent;
};

static struct found *found; /* shared with the process that has no rights */

static char program[PATH_MAX];

static bool execute(const struct child *self, void *number)
{
	volatile unsigned turns = *(unsigned *)number * 7919 % TURNS;

	child_answer(self, true);
	child_wait(self);
	while (turns)
		turns--;
	execl(program, program, "live", (char *)NULL);
	_exit(1);
}

static void note(int r, const struct pmp_error *err)
{
	found->failed++;
	if (r != PMP_EPERM && r != PMP_ESRCH)
		found->other++;
	found->silent += !err->message[0];
}

static void capture_one(unsigned number)
{
	struct child child = { 0 };
	struct pmp_target *target = NULL;
	struct pmp_sample *sample;
	struct pmp_error err = { 0 };
	int r = 0;

	if (!child_start(&child, execute, &number) ||
	    pmp_target_open(child.pid, NULL, &target, NULL) < 0 ||
	    write(child.orders, "g", 1) != 1)
		_exit(1);
	for (int i = 0; i < CAPTURES && r >= 0; i++) {
		r = pmp_target_capture(target, &sample, &err);
		if (r >= 0)
			pmp_sample_free(sample);
	}
	note(r, &err);
	pmp_target_close(target);
	child_end(&child);
}

/* As a user; after that a process is not dumpable, and its children could not be traced. */
static bool be_user(void)
{
	return setresgid(USER, USER, USER) == 0 && setresuid(USER, USER, USER) == 0 &&
	       prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool run(void (*body)(void))
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0) {
		if (!be_user())
			_exit(1);
		body();
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void try_setuid(void)
{
	execl(program, program, "check", (char *)NULL);
	_exit(1);
}

static void capture_all(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		capture_one(i);
}

static bool make_program(const struct folder *folder)
{
	return child_copy_self(folder_path(folder, "setuid", program)) &&
	       chmod(program, 04755) == 0 && run(try_setuid);
}

int main(int argc, char **argv)
{
	struct folder folder;

	if (argc > 1 && strcmp(argv[1], "check") == 0)
		return geteuid() != 0;
	if (argc > 1 && strcmp(argv[1], "live") == 0)
		return usleep(LIFE);
	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (geteuid() != 0 || !folder_make(&folder)) {
		skip("not root, or no folder");
		return done_testing();
	}
	if (!make_program(&folder)) {
		skip("no setuid programs");
	} else {
		ok(run(capture_all), "%d processes execute a setuid program", PROCESSES);
		is_int(found->failed, PROCESSES, "none can be captured from then on");
		is_int(found->other, 0, "as that is not permitted, or it has ended");
		is_int(found->silent, 0, "and each failure says why");
	}
	folder_remove(&folder);
	return done_testing();
}
