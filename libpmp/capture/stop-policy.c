/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that a stop would disturb, recognized by what /proc says about a
 * sleeping thread: its system call and arguments. If it depends on the
 * descriptor (a timeout set on a socket makes the call return EINTR), a
 * duplicate of it is checked; if that is impossible, the call counts as
 * disturbed.
 */
#include "capture/stop-policy.h"

#include "base/fault.h"
#include "base/syscalls.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438 /* the same on all architectures */
#endif

/* What a stop does to a call. */
enum on_stop {
	FAILS,	     /* EINTR, or it restarts with its full timeout */
	SHORT_COUNT, /* returns what was transferred so far */
	IF_RCVTIMEO, /* EINTR if the socket (first argument) has a receive timeout */
	IF_SNDTIMEO,
};

static const struct {
	int number;
	enum on_stop effect;
	int waitall_arg; /* argument that may hold MSG_WAITALL, or -1 */
} calls[] = {
#ifdef SYS_epoll_wait /* not on all architectures */
	{ SYS_epoll_wait, FAILS, -1 },
#endif
	{ SYS_epoll_pwait, FAILS, -1 },
	{ SYS_epoll_pwait2, FAILS, -1 },
	{ SYS_semop, FAILS, -1 },
	{ SYS_semtimedop, FAILS, -1 },
	{ SYS_rt_sigtimedwait, FAILS, -1 },
	{ SYS_io_getevents, FAILS, -1 },
	{ SYS_io_pgetevents, FAILS, -1 },
	{ SYS_io_uring_enter, FAILS, -1 },
	{ SYS_getrandom, SHORT_COUNT, -1 },
	{ SYS_read, IF_RCVTIMEO, -1 },
	{ SYS_readv, IF_RCVTIMEO, -1 },
	{ SYS_preadv2, IF_RCVTIMEO, -1 },
	{ SYS_recvfrom, IF_RCVTIMEO, 3 },
	{ SYS_recvmsg, IF_RCVTIMEO, 2 },
	/* What was received before, and the next call returns an error of the kernel. */
	{ SYS_recvmmsg, SHORT_COUNT, -1 },
	{ SYS_accept, IF_RCVTIMEO, -1 },
	{ SYS_accept4, IF_RCVTIMEO, -1 },
	{ SYS_connect, IF_SNDTIMEO, -1 },
	{ SYS_write, SHORT_COUNT, -1 },
	{ SYS_writev, SHORT_COUNT, -1 },
	{ SYS_pwritev2, SHORT_COUNT, -1 },
	{ SYS_sendto, SHORT_COUNT, -1 },
	{ SYS_sendmsg, SHORT_COUNT, -1 },
	{ SYS_sendmmsg, SHORT_COUNT, -1 },
	{ SYS_sendfile, SHORT_COUNT, -1 },
	{ SYS_splice, SHORT_COUNT, -1 },
	{ SYS_vmsplice, SHORT_COUNT, -1 },
	/* It cannot be restarted; with SO_LINGER, unsent data would be lost. */
	{ SYS_close, FAILS, -1 },
};

/* Is descriptor fd of the process a socket? Does not touch it. */
static bool is_socket(const struct pmp_process *process, uint64_t fd)
{
	char path[40], target[16];
	ssize_t n;

	snprintf(path, sizeof(path), "fd/%u", (unsigned)fd);
	n = readlinkat(process->proc, path, target, sizeof(target));
	return n < 0 || (n >= 8 && memcmp(target, "socket:[", 8) == 0);
}

static bool has_timeout(const struct pmp_process *process, uint64_t fd, int option)
{
	struct timeval timeout = { 0 };
	socklen_t length = sizeof(timeout);
	bool has = true;
	int copy;

	if (!is_socket(process, fd))
		return false;
	copy = (int)syscall(SYS_pidfd_getfd, process->pidfd, (int)fd, 0);
	if (copy < 0)
		return true;
	if (getsockopt(copy, SOL_SOCKET, option, &timeout, &length) == 0)
		has = timeout.tv_sec || timeout.tv_usec;
	close(copy);
	return has;
}

static bool is_disturbed(const struct pmp_process *process,
			 const struct pmp_thread *thread)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		int waitall = calls[i].waitall_arg;

		if (calls[i].number != thread->syscall)
			continue;
		if (waitall >= 0 && (thread->args[waitall] & MSG_WAITALL))
			return true;
		switch (calls[i].effect) {
		case FAILS:
		case SHORT_COUNT: return true;
		case IF_RCVTIMEO:
			return has_timeout(process, thread->args[0], SO_RCVTIMEO);
		case IF_SNDTIMEO:
			return has_timeout(process, thread->args[0], SO_SNDTIMEO);
		}
	}
	return false;
}

static bool is_vfork(int number)
{
#ifdef SYS_vfork
	if (number == SYS_vfork)
		return true;
#endif
	return number == SYS_clone || number == SYS_clone3;
}

static bool refuse(struct pmp_thread *thread, const char *prefix, const char *reason)
{
	snprintf(thread->reason, sizeof(thread->reason), "%s%s", prefix, reason);
	return false;
}

static const char *syscall_text(const struct pmp_thread *thread)
{
	const char *name = pmp_syscall_name(thread->syscall);

	return name ? name : "system call";
}

bool pmp_may_stop(const struct pmp_process *process, struct pmp_thread *thread,
		  const struct pmp_inspection *peek)
{
	bool asleep = thread->state == 'S' && thread->syscall >= 0;

	thread->reason[0] = '\0';
	if (thread->state == 'Z' || thread->state == 'X')
		return refuse(thread, "", "zombie");
	if (peek->worker)
		return refuse(thread, "", "kernel worker");
	/* A signal pending for the thread that writes into a pipe, as core_pattern(5) may
	 * want, ends the core there: 1.1 of 8.7 MB were left. */
	if (peek->dumping)
		return refuse(thread, "", "core is being written");
	if (peek->seccomp == 2 && !PMP_FAULT("stop-seccomp"))
		return refuse(thread, "", "seccomp");
	if (thread->state == 'D' && PMP_FAULT("stop-vfork"))
		return true;
	if (thread->state == 'D' && is_vfork(thread->syscall))
		return refuse(thread, "", "D, vfork");
	if (thread->state == 'D')
		return refuse(thread, "D, ",
			      thread->wchan[0] ? thread->wchan : syscall_text(thread));
	if (!asleep || PMP_FAULT("stop-disturbed"))
		return true;
	if (is_disturbed(process, thread))
		return refuse(thread, "", syscall_text(thread));
	return true;
}
