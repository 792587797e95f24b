/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/outside-call.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

#ifndef F_OFD_SETLKW
#define F_OFD_SETLKW 38
#endif
#define CALL_CLONE3 435 /* the same on all architectures, missing in old headers */
#define CALL_IO_URING_ENTER 426
#define CALL_EPOLL_PWAIT2 441
#define RING_REGISTERED 16 /* IORING_ENTER_REGISTERED_RING: fd is not a descriptor */
#define WAITID_PIDFD 3	   /* P_PIDFD */
#define POLLED_MAX 65536   /* descriptors of a call: larger numbers are invalid */

/* Calls that may wait for the descriptor in their first argument. */
static const struct {
	int number;
	enum pmp_outside_does does;
} stream_calls[] = {
	{ SYS_read, PMP_DOES_READ },	   { SYS_readv, PMP_DOES_READ },
	{ SYS_write, PMP_DOES_WRITE },	   { SYS_writev, PMP_DOES_WRITE },
	{ SYS_recvfrom, PMP_DOES_READ },   { SYS_recvmsg, PMP_DOES_READ },
	{ SYS_recvmmsg, PMP_DOES_READ },   { SYS_sendto, PMP_DOES_WRITE },
	{ SYS_sendmsg, PMP_DOES_WRITE },   { SYS_sendmmsg, PMP_DOES_WRITE },
	{ SYS_connect, PMP_DOES_CONNECT }, { SYS_accept, PMP_DOES_ACCEPT },
	{ SYS_accept4, PMP_DOES_ACCEPT },  { SYS_vmsplice, PMP_DOES_WRITE },
};

static bool decode_stream(const struct pmp_blocked_call *in,
			  struct pmp_outside_call *call)
{
	for (size_t i = 0; i < sizeof(stream_calls) / sizeof(*stream_calls); i++) {
		if (stream_calls[i].number != in->number)
			continue;
		call->does = stream_calls[i].does;
		call->fd = (int)in->args[0];
		if (in->number == SYS_connect) {
			call->address = in->args[1];
			call->length = (uint32_t)in->args[2];
		}
		return call->fd >= 0;
	}
	return false;
}

static bool decode_fcntl(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	int command = (int)in->args[1];
	struct flock wanted;

	if (command != F_SETLKW && command != F_OFD_SETLKW)
		return false;
	call->lock = command == F_SETLKW ? PMP_OUTSIDE_FCNTL : PMP_OUTSIDE_OFD;
	call->range = in->args[2];
	call->write = pmp_read(&in->reader, in->args[2], &wanted, sizeof(wanted)) &&
		      wanted.l_type == F_WRLCK;
	return true;
}

static bool decode_lock(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	call->fd = (int)in->args[0];
	if (in->number == SYS_flock) {
		call->lock = PMP_OUTSIDE_FLOCK;
		call->write = in->args[1] & LOCK_EX;
	} else if (in->number != SYS_fcntl || !decode_fcntl(in, call)) {
		return false;
	}
	call->does = PMP_DOES_LOCK;
	return call->fd >= 0;
}

static void decode_wait4(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	int which = (int)in->args[0];

	call->children = which > 0     ? PMP_CHILD_ONE
			 : which == -1 ? PMP_CHILD_ANY
				       : PMP_CHILD_GROUP;
	call->child = which > 0 ? which : 0;
	call->own_children = in->args[2] & __WNOTHREAD;
}

static void decode_waitid(const struct pmp_blocked_call *in,
			  struct pmp_outside_call *call)
{
	switch ((int)in->args[0]) {
	case P_ALL: call->children = PMP_CHILD_ANY; break;
	case P_PID:
		call->children = PMP_CHILD_ONE;
		call->child = (int)in->args[1] > 0 ? (int)in->args[1] : 0;
		break;
	case WAITID_PIDFD:
		call->children = PMP_CHILD_PIDFD;
		call->fd = (int)in->args[1];
		break;
	default: call->children = PMP_CHILD_GROUP;
	}
	call->own_children = in->args[3] & __WNOTHREAD;
}

static bool is_vfork(const struct pmp_blocked_call *in)
{
	uint64_t flags;

#ifdef SYS_vfork
	if (in->number == SYS_vfork)
		return true;
#endif
	if (in->number == SYS_clone)
		return in->args[0] & CLONE_VFORK;
	return in->number == CALL_CLONE3 &&
	       pmp_read(&in->reader, in->args[0], &flags, sizeof(flags)) &&
	       flags & CLONE_VFORK;
}

static bool decode_child(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	call->does = PMP_DOES_WAIT_CHILD;
	if (in->number == SYS_wait4) {
		decode_wait4(in, call);
	} else if (in->number == SYS_waitid) {
		decode_waitid(in, call);
	} else if (in->state == 'D' && is_vfork(in)) {
		call->does = PMP_DOES_VFORK;
		call->own_children = true;
	} else {
		return false;
	}
	return true;
}

static bool decode_semop(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	struct {
		uint16_t number;
		int16_t operation, flags;
	} operations[PMP_SEMOPS_MAX];
	size_t count =
		in->args[2] < PMP_SEMOPS_MAX ? (size_t)in->args[2] : PMP_SEMOPS_MAX;

	if (in->number != SYS_semtimedop
#ifdef SYS_semop
	    && in->number != SYS_semop
#endif
	)
		return false;
	call->does = PMP_DOES_SEMOP;
	call->set = (int)in->args[0];
	call->timed = in->number == SYS_semtimedop && in->args[3];
	if (!count ||
	    !pmp_read(&in->reader, in->args[1], operations, count * sizeof(*operations)))
		return true;
	call->semop_count = count;
	for (size_t i = 0; i < count; i++)
		call->semops[i] = (struct pmp_semop){ operations[i].number,
						      operations[i].operation };
	return true;
}

/* ---- events, times and files: waits for no process ----------------------------------- */

/* Calls that can only wait for a file or device. */
static const int file_calls[] = {
	SYS_pread64,	     SYS_pwrite64,  SYS_preadv,	   SYS_pwritev,	   SYS_preadv2,
	SYS_pwritev2,	     SYS_fsync,	    SYS_fdatasync, SYS_syncfs,	   SYS_ftruncate,
	SYS_sync_file_range, SYS_fallocate, SYS_readahead, SYS_getdents64, SYS_ioctl,
};

static bool decode_file(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	for (size_t i = 0; i < sizeof(file_calls) / sizeof(*file_calls); i++)
		if (file_calls[i] == in->number) {
			call->does = PMP_DOES_IO;
			call->fd = (int)in->args[0];
			return call->fd >= 0;
		}
	return false;
}

static bool decode_epoll(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	if (in->number == CALL_EPOLL_PWAIT2)
		call->timed = in->args[3];
#ifdef SYS_epoll_wait
	else if (in->number == SYS_epoll_wait)
		call->timed = (int)in->args[3] >= 0;
#endif
	else if (in->number == SYS_epoll_pwait)
		call->timed = (int)in->args[3] >= 0;
	else
		return false;
	call->does = PMP_DOES_POLL;
	call->fd = (int)in->args[0];
	return call->fd >= 0;
}

/* A poll of one descriptor is a wait to read or write that descriptor. */
static void decode_polled(const struct pmp_blocked_call *in,
			  struct pmp_outside_call *call)
{
	struct pollfd polled;

	call->does = PMP_DOES_POLL;
	call->watched = in->args[1] <= POLLED_MAX ? (uint32_t)in->args[1] : 0;
	if (in->args[1] != 1 ||
	    !pmp_read(&in->reader, in->args[0], &polled, sizeof(polled)) ||
	    polled.fd < 0 || !(polled.events & (POLLIN | POLLOUT)))
		return;
	call->does = polled.events & POLLIN ? PMP_DOES_READ : PMP_DOES_WRITE;
	call->polls = true;
	call->fd = polled.fd;
}

enum restarted { NOT_RESTARTED, RESTARTED_FUTEX, RESTARTED_POLL, RESTARTED_SLEEP };

/*
 * What restart_syscall restarts: a call with a timeout, after a stop, with the same
 * arguments. Of the calls that the kernel restarts this way (set_restart_fn() in its
 * sources), only a sleep has no wchan of its own: all its functions may be the
 * scheduler's, which wchan does not show.
 */
static enum restarted restarted(const struct pmp_blocked_call *in)
{
	static const struct {
		const char *place;
		enum restarted call;
	} places[] = {
		{ "futex", RESTARTED_FUTEX },  { "rt_mutex", RESTARTED_FUTEX },
		{ "poll_", RESTARTED_POLL },   { "do_sys_poll", RESTARTED_POLL },
		{ "do_poll", RESTARTED_POLL }, { "do_restart_poll", RESTARTED_POLL },
	};

	if (in->number != SYS_restart_syscall || !in->wchan[0] ||
	    strcmp(in->wchan, "0") == 0)
		return NOT_RESTARTED;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (strncmp(in->wchan, places[i].place, strlen(places[i].place)) == 0)
			return places[i].call;
	return RESTARTED_SLEEP;
}

static bool decode_poll(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	switch (in->number) {
#ifdef SYS_poll
	case SYS_poll:
		decode_polled(in, call);
		call->timed = (int)in->args[2] >= 0;
		return true;
#endif
	case SYS_ppoll:
		decode_polled(in, call);
		call->timed = in->args[2];
		return true;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		call->does = PMP_DOES_POLL;
		call->timed = in->args[4];
		return true;
	default: break;
	}
	if (restarted(in) != RESTARTED_POLL)
		return decode_epoll(in, call);
	decode_polled(in, call);
	call->timed = true;
	return true;
}

/* Read the duration of a sleep. */
static void decode_sleep(const struct pmp_blocked_call *in, uint64_t address,
			 struct pmp_outside_call *call)
{
	struct timespec time;

	if (pmp_read(&in->reader, address, &time, sizeof(time)) && time.tv_sec >= 0 &&
	    (uint64_t)time.tv_sec < UINT64_MAX / PMP_S - 1 && time.tv_nsec >= 0 &&
	    (uint64_t)time.tv_nsec < PMP_S)
		call->sleep = (uint64_t)time.tv_sec * PMP_S + (uint64_t)time.tv_nsec;
}

static bool decode_time(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	call->does = PMP_DOES_SLEEP;
	call->timed = true;
	if (in->number == SYS_nanosleep)
		decode_sleep(in, in->args[0], call);
	else if (restarted(in) == RESTARTED_SLEEP)
		return true;
	else if (in->number != SYS_clock_nanosleep)
		return false;
	else if (!(in->args[1] & TIMER_ABSTIME))
		decode_sleep(in, in->args[2], call);
	return true;
}

static bool decode_signal(const struct pmp_blocked_call *in,
			  struct pmp_outside_call *call)
{
	switch (in->number) {
#ifdef SYS_pause
	case SYS_pause:
#endif
	case SYS_rt_sigsuspend: break;
	case SYS_rt_sigtimedwait: call->timed = in->args[2]; break;
	default: return false;
	}
	call->does = PMP_DOES_SIGNAL;
	return true;
}

/* The kernel's completion queues of I/O. */
static bool decode_completion(const struct pmp_blocked_call *in,
			      struct pmp_outside_call *call)
{
	if (in->number == SYS_io_getevents) {
		call->timed = in->args[4];
	} else if (in->number == CALL_IO_URING_ENTER) {
		if (!(in->args[3] & RING_REGISTERED))
			call->fd = (int)in->args[0];
	} else {
		return false;
	}
	call->does = call->fd >= 0 ? PMP_DOES_READ : PMP_DOES_EVENT;
	return true;
}

static bool decode_queue(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	call->does = PMP_DOES_QUEUE;
	switch (in->number) {
	case SYS_msgrcv:
	case SYS_msgsnd:
		call->write = in->number == SYS_msgsnd;
		call->set = (int)in->args[0];
		return true;
	case SYS_mq_timedsend:
	case SYS_mq_timedreceive:
		call->write = in->number == SYS_mq_timedsend;
		call->fd = (int)in->args[0];
		call->timed = in->args[4];
		return call->fd >= 0;
	default: return false;
	}
}

/* ------------------------------------------------------------------------------------- */

bool pmp_outside_decode(const struct pmp_blocked_call *in, struct pmp_outside_call *call)
{
	static bool (*const decoders[])(const struct pmp_blocked_call *in,
					struct pmp_outside_call *call) = {
		decode_stream, decode_lock,	  decode_child, decode_semop,
		decode_file,   decode_poll,	  decode_time,	decode_signal,
		decode_queue,  decode_completion,
	};

	for (size_t i = 0; i < sizeof(decoders) / sizeof(*decoders); i++) {
		*call = (struct pmp_outside_call){ .fd = -1 };
		if (decoders[i](in, call))
			return true;
	}
	*call = (struct pmp_outside_call){ .fd = -1 };
	return false;
}
