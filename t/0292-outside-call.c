/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a system call waits for outside of the process, by its number and arguments. */
#include "lib/tap.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "capture/outside-call.h"
#include "lib/fakeproc.h"

#define AT UINT64_C(0x7000)

static struct fake memory;
static const char *wchan = ""; /* of the thread */

static bool decode(int number, char state, struct pmp_outside_call *call, uint64_t a,
		   uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[6] = { a, b, c, d };
	const struct pmp_blocked_call blocked = { .number = number,
						  .state = state,
						  .wchan = wchan,
						  .args = args,
						  .reader = fake_reader(&memory) };

	return pmp_outside_decode(&blocked, call);
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

static void test_files(void)
{
	static const int numbers[] = { SYS_pread64, SYS_pwritev, SYS_fsync, SYS_fdatasync,
				       SYS_ioctl };
	struct pmp_outside_call call;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		ok(decode(numbers[i], 'D', &call, 5, 0, 0, 0) &&
			   call.does == PMP_DOES_IO && call.fd == 5,
		   "call %d, with a file", numbers[i]);
}

static void test_polls(void)
{
	static const struct pollfd read = { 5, POLLIN, 0 }, write = { 6, POLLOUT, 0 },
				   none = { -1, POLLIN, 0 };
	struct pmp_outside_call call;

	memory = (struct fake){ 0 };
	fake_add(&memory, AT, &read, sizeof(read));
	fake_add(&memory, AT + 64, &write, sizeof(write));
	fake_add(&memory, AT + 128, &none, sizeof(none));
	ok(decode(SYS_epoll_pwait, 'S', &call, 5, AT, 1, (uint64_t)-1) &&
		   call.does == PMP_DOES_POLL && call.fd == 5 && !call.timed,
	   "epoll_pwait");
	ok(decode(SYS_epoll_pwait, 'S', &call, 5, AT, 1, 0xffffffff) && !call.timed,
	   "without a timeout, as the kernel shows an int");
	ok(decode(SYS_epoll_pwait, 'S', &call, 5, AT, 1, 100) && call.timed,
	   "with a timeout");
	ok(decode(441, 'S', &call, 5, AT, 1, 0) && call.does == PMP_DOES_POLL &&
		   !call.timed,
	   "epoll_pwait2");
	ok(decode(SYS_ppoll, 'S', &call, AT, 3, 0, 0) && call.does == PMP_DOES_POLL &&
		   call.fd == -1 && call.watched == 3 && !call.timed,
	   "ppoll of three");
	ok(decode(SYS_ppoll, 'S', &call, AT, 1, AT, 0) && call.does == PMP_DOES_READ &&
		   call.fd == 5 && call.polls && call.timed,
	   "of one, to be read");
	ok(decode(SYS_ppoll, 'S', &call, AT + 64, 1, 0, 0) &&
		   call.does == PMP_DOES_WRITE && call.fd == 6,
	   "of one, to be written");
	ok(decode(SYS_ppoll, 'S', &call, AT + 128, 1, 0, 0) &&
		   call.does == PMP_DOES_POLL && call.fd == -1,
	   "of none");
	ok(decode(SYS_ppoll, 'S', &call, 1, 1, 0, 0) && call.does == PMP_DOES_POLL,
	   "of one that cannot be read");
	ok(decode(SYS_ppoll, 'S', &call, AT, UINT64_MAX, 0, 0) && !call.watched,
	   "of a number that is none");
	ok(decode(SYS_pselect6, 'S', &call, 9, AT, 0, 0) && call.does == PMP_DOES_POLL &&
		   !call.watched && !call.timed,
	   "pselect");
}

static void test_times(void)
{
	static const struct timespec time = { 3, 500000000 }, wrong = { 3, 1000000000 },
				     long_time = { INT64_MAX, 0 };
	struct pmp_outside_call call;

	memory = (struct fake){ 0 };
	fake_add(&memory, AT, &time, sizeof(time));
	fake_add(&memory, AT + 64, &wrong, sizeof(wrong));
	fake_add(&memory, AT + 128, &long_time, sizeof(long_time));
	ok(decode(SYS_nanosleep, 'S', &call, AT, 0, 0, 0) &&
		   call.does == PMP_DOES_SLEEP && call.timed,
	   "nanosleep");
	is_int((long)call.sleep, 3500000000, "how long");
	ok(decode(SYS_clock_nanosleep, 'S', &call, 1, 0, AT, 0) && call.sleep,
	   "clock_nanosleep");
	ok(decode(SYS_clock_nanosleep, 'S', &call, 1, TIMER_ABSTIME, AT, 0) &&
		   call.does == PMP_DOES_SLEEP && !call.sleep,
	   "until a time");
	ok(decode(SYS_nanosleep, 'S', &call, AT + 64, 0, 0, 0) && !call.sleep,
	   "a time that is none");
	ok(decode(SYS_nanosleep, 'S', &call, AT + 128, 0, 0, 0) && !call.sleep,
	   "one that is too long");
	ok(decode(SYS_nanosleep, 'S', &call, 1, 0, 0, 0) && !call.sleep,
	   "one that cannot be read");
}

static void test_others(void)
{
	struct pmp_outside_call call;

	ok(decode(SYS_rt_sigtimedwait, 'S', &call, AT, 0, 0, 8) &&
		   call.does == PMP_DOES_SIGNAL && !call.timed,
	   "sigwait");
	ok(decode(SYS_rt_sigsuspend, 'S', &call, AT, 8, 0, 0) &&
		   call.does == PMP_DOES_SIGNAL,
	   "sigsuspend");
	ok(decode(SYS_io_getevents, 'S', &call, AT, 1, 1, AT) &&
		   call.does == PMP_DOES_EVENT && call.fd == -1,
	   "asynchronous input and output");
	ok(decode(426, 'S', &call, 5, 0, 1, 1) && call.does == PMP_DOES_READ &&
		   call.fd == 5,
	   "a ring");
	ok(decode(426, 'S', &call, 0, 0, 1, 17) && call.does == PMP_DOES_EVENT &&
		   call.fd == -1,
	   "one that is registered: its number is no descriptor");
	ok(decode(SYS_msgrcv, 'S', &call, 65538, AT, 8, 0) &&
		   call.does == PMP_DOES_QUEUE && call.set == 65538 && call.fd == -1 &&
		   !call.write,
	   "msgrcv");
	ok(decode(SYS_msgsnd, 'S', &call, 65538, AT, 8, 0) && call.write, "msgsnd");
	ok(decode(SYS_mq_timedsend, 'S', &call, 5, AT, 8, 0) &&
		   call.does == PMP_DOES_QUEUE && call.fd == 5 && call.write,
	   "mq_send");
}

/* With a timeout it goes on as this after a stop. */
static void test_restarted(void)
{
	static const struct pollfd read = { 5, POLLIN, 0 };
	struct pmp_outside_call call;

	memory = (struct fake){ 0 };
	fake_add(&memory, AT, &read, sizeof(read));
	ok(!decode(SYS_restart_syscall, 'S', &call, AT, 1, 0, 0), "a call that goes on");
	wchan = "hrtimer_nanosleep";
	ok(decode(SYS_restart_syscall, 'S', &call, AT, 1, 0, 0) &&
		   call.does == PMP_DOES_SLEEP && !call.sleep,
	   "asleep");
	wchan = "do_syscall_64";
	ok(decode(SYS_restart_syscall, 'S', &call, AT, 1, 0, 0) &&
		   call.does == PMP_DOES_SLEEP,
	   "asleep, where only the scheduler's functions are");
	wchan = "poll_schedule_timeout.constprop.0";
	ok(decode(SYS_restart_syscall, 'S', &call, AT, 1, 0, 0) &&
		   call.does == PMP_DOES_READ && call.fd == 5 && call.timed,
	   "in poll()");
	wchan = "futex_do_wait";
	ok(!decode(SYS_restart_syscall, 'S', &call, AT, 1, 0, 0), "in another");
	wchan = "";
}

int main(void)
{
	test_streams();
	test_locks();
	test_children();
	test_semaphores();
	test_files();
	test_polls();
	test_times();
	test_others();
	test_restarted();
	return done_testing();
}
