/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a system call waits for outside of the process, by its number and arguments. */
#include "lib/tap.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "capture/outside-call.h"
#include "lib/fakeproc.h"

#define AT UINT64_C(0x7000)

static struct fake memory;

static bool decode(int number, char state, struct pmp_outside_call *call, uint64_t a,
		   uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[6] = { a, b, c, d };
	const struct pmp_reader reader = fake_reader(&memory);

	return pmp_outside_decode(number, args, state, &reader, call);
}

static void test_streams(void)
{
	struct pmp_outside_call call;

	ok(decode(SYS_read, 'S', &call, 5, 0, 0, 0) && call.does == PMP_DOES_READ &&
		   call.fd == 5,
	   "read");
	ok(decode(SYS_writev, 'S', &call, 5, 0, 0, 0) && call.does == PMP_DOES_WRITE,
	   "writev");
	ok(decode(SYS_recvmmsg, 'S', &call, 5, 0, 0, 0) && call.does == PMP_DOES_READ,
	   "recvmmsg");
	ok(decode(SYS_accept4, 'S', &call, 5, 0, 0, 0) && call.does == PMP_DOES_ACCEPT,
	   "accept4");
	ok(decode(SYS_connect, 'S', &call, 5, AT, 110, 0) &&
		   call.does == PMP_DOES_CONNECT && call.address == AT &&
		   call.length == 110,
	   "connect, with its address");
	ok(!decode(SYS_read, 'S', &call, (uint64_t)-1, 0, 0, 0) &&
		   call.does == PMP_DOES_NOTHING && call.fd == -1,
	   "no descriptor");
	ok(!decode(SYS_getpid, 'S', &call, 5, 0, 0, 0), "a call that waits for nothing");
	ok(!decode(-1, 'S', &call, 5, 0, 0, 0), "no call");
}

static void test_locks(void)
{
	static const struct flock write = { .l_type = F_WRLCK };
	struct pmp_outside_call call;

	memory = (struct fake){ 0 };
	fake_add(&memory, AT, &write, sizeof(write));
	ok(decode(SYS_flock, 'S', &call, 5, LOCK_EX, 0, 0) &&
		   call.does == PMP_DOES_LOCK && call.lock == PMP_OUTSIDE_FLOCK &&
		   call.write,
	   "flock to write");
	ok(decode(SYS_flock, 'S', &call, 5, LOCK_SH, 0, 0) && !call.write, "to read");
	ok(decode(SYS_fcntl, 'S', &call, 5, F_SETLKW, AT, 0) &&
		   call.lock == PMP_OUTSIDE_FCNTL && call.write && call.range == AT,
	   "fcntl");
	ok(decode(SYS_fcntl, 'S', &call, 5, 38, AT, 0) && call.lock == PMP_OUTSIDE_OFD,
	   "of a description");
	ok(decode(SYS_fcntl, 'S', &call, 5, F_SETLKW, 1, 0) && !call.write,
	   "memory that cannot be read");
	ok(!decode(SYS_fcntl, 'S', &call, 5, F_GETFL, 0, 0), "fcntl for something else");
}

static void test_children(void)
{
	static const uint64_t vfork_flags = CLONE_VFORK | CLONE_VM, fork_flags = SIGCHLD;
	struct pmp_outside_call call;

	ok(decode(SYS_wait4, 'S', &call, 4100, 0, 0, 0) &&
		   call.does == PMP_DOES_WAIT_CHILD && call.children == PMP_CHILD_ONE &&
		   call.child == 4100,
	   "wait4 for one");
	ok(decode(SYS_wait4, 'S', &call, 0xffffffff, 0, 0, 0) &&
		   call.children == PMP_CHILD_ANY && !call.child,
	   "for any, as the kernel shows an int");
	ok(decode(SYS_wait4, 'S', &call, (uint64_t)-1, 0, __WNOTHREAD, 0) &&
		   call.own_children,
	   "of those of the thread");
	ok(decode(SYS_wait4, 'S', &call, 0, 0, 0, 0) && call.children == PMP_CHILD_GROUP,
	   "of a group");
	ok(decode(SYS_waitid, 'S', &call, P_PID, 4100, 0, 0) && call.child == 4100,
	   "waitid for one");
	ok(decode(SYS_waitid, 'S', &call, P_ALL, 4100, 0, 0) &&
		   call.children == PMP_CHILD_ANY && !call.child,
	   "for any");
	ok(decode(SYS_waitid, 'S', &call, 3, 7, 0, 0) &&
		   call.children == PMP_CHILD_PIDFD && call.fd == 7,
	   "by a descriptor");
	memory = (struct fake){ 0 };
	fake_add(&memory, AT, &vfork_flags, sizeof(vfork_flags));
	fake_add(&memory, AT + 64, &fork_flags, sizeof(fork_flags));
	ok(decode(SYS_clone, 'D', &call, vfork_flags, 0, 0, 0) &&
		   call.does == PMP_DOES_VFORK && call.own_children,
	   "clone as posix_spawn uses it");
	ok(!decode(SYS_clone, 'D', &call, fork_flags, 0, 0, 0), "not as fork does");
	ok(!decode(SYS_clone, 'S', &call, vfork_flags, 0, 0, 0), "nor asleep otherwise");
	ok(decode(435, 'D', &call, AT, 88, 0, 0) && call.does == PMP_DOES_VFORK,
	   "clone3");
	ok(!decode(435, 'D', &call, AT + 64, 88, 0, 0), "without that flag");
	ok(!decode(435, 'D', &call, 1, 88, 0, 0), "or unreadable");
#ifdef SYS_vfork
	ok(decode(SYS_vfork, 'D', &call, 0, 0, 0, 0) && call.does == PMP_DOES_VFORK,
	   "vfork");
#endif
}

static void test_semaphores(void)
{
	static const int16_t operations[] = { 3, -1, 0, 1, 2, 0 };
	struct pmp_outside_call call;

	memory = (struct fake){ 0 };
	fake_add(&memory, AT, operations, sizeof(operations));
	ok(decode(SYS_semtimedop, 'S', &call, 65538, AT, 2, 1) &&
		   call.does == PMP_DOES_SEMOP && call.set == 65538 && call.timed,
	   "semtimedop");
	is_int((long)call.semop_count, 2, "its operations");
	ok(call.semops[0].number == 3 && call.semops[0].operation == -1 &&
		   call.semops[1].number == 1 && call.semops[1].operation == 2,
	   "each of them");
	ok(decode(SYS_semtimedop, 'S', &call, 65538, AT, UINT64_MAX, 0) &&
		   !call.semop_count && !call.timed,
	   "more than can be read");
}

int main(void)
{
	test_streams();
	test_locks();
	test_children();
	test_semaphores();
	return done_testing();
}
