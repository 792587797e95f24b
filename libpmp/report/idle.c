/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The built-in list of waits. Names are compared without their parameters. */
#include "report/idle.h"

#include <stddef.h>
#include <string.h>

#include "report/wait-functions.h"

/* Parts of names. These win over the waits below. */
static const char *const lock_names[] = {
	"lll_lock_wait",      "mutex_lock",	      "mutex_timedlock",
	"rwlock_rdlock",      "rwlock_wrlock",	      "rwlock_timedrdlock",
	"rwlock_timedwrlock", "futex_lock_pi",	      "rwlock_clockrdlock",
	"rwlock_clockwrlock", "pthread_barrier_wait",
};

/* Calls that serve for nothing but waiting for work. */
static const char *const waiting_calls[] = {
	"accept",	   "accept4",	    "clock_nanosleep",
	"epoll_pwait",	   "epoll_pwait2",  "epoll_wait",
	"io_getevents",	   "io_pgetevents", "io_uring_enter",
	"mq_timedreceive", "msgrcv",	    "nanosleep",
	"pause",	   "poll",	    "ppoll",
	"pselect6",	   "read",	    "recvfrom",
	"recvmmsg",	   "recvmsg",	    "rt_sigsuspend",
	"rt_sigtimedwait", "select",	    "semop",
	"semtimedop",	   "wait4",	    "waitid",
};

/* Calls that are also made for locks, or that may stand for any other call. */
static const char *const ambiguous_calls[] = { "futex", "futex_wait", "restart_syscall" };

/* Function names, without leading underscores and the GI_ of the C library. */
static const char *const waiting_names[] = {
	"accept",
	"accept4",
	"clock_nanosleep",
	"epoll_pwait",
	"epoll_wait",
	"futex_abstimed_wait_cancelable64",
	"io_getevents",
	"libc_accept",
	"libc_poll",
	"futex_abstimed_wait_common",
	"futex_abstimed_wait_common64",
	"libc_read",
	"libc_recv",
	"nanosleep",
	"pause",
	"poll",
	"ppoll",
	"pselect",
	"pthread_cond_clockwait",
	"pthread_cond_timedwait",
	"pthread_cond_wait",
	"read",
	"recv",
	"recvfrom",
	"recvmsg",
	"select",
	"sem_clockwait",
	"sem_timedwait",
	"sem_wait",
	"sigtimedwait",
	"sigwait",
	"sigwaitinfo",
	"sleep",
	"syscall_cancel_arch",
	"usleep",
	"wait4",
	"waitpid",
	"Unsafe_Park",
	"Parker::park",
	"std::thread::park",
	"runtime.epollwait",
	"runtime.futex",
	"runtime.usleep",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool is_one_of(const char *name, size_t length, const char *const *words,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == length && memcmp(name, words[i], length) == 0)
			return true;
	return false;
}

static bool has_lock(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT(lock_names); i++)
		if (memmem(name, length, lock_names[i], strlen(lock_names[i])))
			return true;
	return false;
}

static unsigned flags_of(const char *name)
{
	size_t length = strcspn(name, "(<@");
	unsigned flags = 0;

	if (has_lock(name, length))
		flags |= PMP_IDLE_LOCKS;
	for (; *name == '_'; length--)
		name++;
	if (strncmp(name, "GI_", 3) == 0)
		for (name += 3, length -= 3; *name == '_'; length--)
			name++;
	if (is_one_of(name, length, waiting_names, COUNT(waiting_names)))
		flags |= PMP_IDLE_WAITS;
	return flags;
}

/* Waiting for a thread to end or for a once function is not waiting for a lock. */
static unsigned flags_of_wait(const char *name, const char *module)
{
	struct pmp_wait_function says;
	unsigned flags = 0;

	pmp_wait_function(name, module, &says);
	if (pmp_named_kinds[says.kind].lock && says.kind != PMP_NAMED_JOIN &&
	    says.kind != PMP_NAMED_ONCE)
		flags |= PMP_IDLE_LOCKS;
	if (pmp_named_kinds[says.outer].lock ||
	    (says.meaning && says.meaning->lock && !says.meaning->direct))
		flags |= PMP_IDLE_OWN_LOCKS;
	return flags;
}

unsigned pmp_idle_function(const char *name, const char *module)
{
	return flags_of(name) | flags_of_wait(name, module);
}

bool pmp_idle_call(const char *syscall)
{
	return is_one_of(syscall, strlen(syscall), waiting_calls, COUNT(waiting_calls));
}

bool pmp_idle_is_ambiguous(const char *syscall)
{
	return is_one_of(syscall, strlen(syscall), ambiguous_calls,
			 COUNT(ambiguous_calls));
}
