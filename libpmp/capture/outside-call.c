/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/outside-call.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef F_OFD_SETLKW
#define F_OFD_SETLKW 38
#endif
#define CALL_CLONE3 435 /* the same on all machines, and newer than some headers */
#define WAITID_PIDFD 3	/* P_PIDFD */

/* Calls whose first argument is a descriptor that they may wait for. */
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

static bool decode_stream(int number, const uint64_t *args, struct pmp_outside_call *call)
{
	for (size_t i = 0; i < sizeof(stream_calls) / sizeof(*stream_calls); i++) {
		if (stream_calls[i].number != number)
			continue;
		call->does = stream_calls[i].does;
		call->fd = (int)args[0];
		if (number == SYS_connect) {
			call->address = args[1];
			call->length = (uint32_t)args[2];
		}
		return call->fd >= 0;
	}
	return false;
}

static bool decode_fcntl(const uint64_t *args, const struct pmp_reader *reader,
			 struct pmp_outside_call *call)
{
	int command = (int)args[1];
	struct flock wanted;

	if (command != F_SETLKW && command != F_OFD_SETLKW)
		return false;
	call->lock = command == F_SETLKW ? PMP_OUTSIDE_FCNTL : PMP_OUTSIDE_OFD;
	call->range = args[2];
	call->write = pmp_read(reader, args[2], &wanted, sizeof(wanted)) &&
		      wanted.l_type == F_WRLCK;
	return true;
}

static bool decode_lock(int number, const uint64_t *args, const struct pmp_reader *reader,
			struct pmp_outside_call *call)
{
	call->fd = (int)args[0];
	if (number == SYS_flock) {
		call->lock = PMP_OUTSIDE_FLOCK;
		call->write = args[1] & LOCK_EX;
	} else if (number != SYS_fcntl || !decode_fcntl(args, reader, call)) {
		return false;
	}
	call->does = PMP_DOES_LOCK;
	return call->fd >= 0;
}

static void decode_wait4(const uint64_t *args, struct pmp_outside_call *call)
{
	int which = (int)args[0];

	call->children = which > 0     ? PMP_CHILD_ONE
			 : which == -1 ? PMP_CHILD_ANY
				       : PMP_CHILD_GROUP;
	call->child = which > 0 ? which : 0;
	call->own_children = args[2] & __WNOTHREAD;
}

static void decode_waitid(const uint64_t *args, struct pmp_outside_call *call)
{
	switch ((int)args[0]) {
	case P_ALL: call->children = PMP_CHILD_ANY; break;
	case P_PID:
		call->children = PMP_CHILD_ONE;
		call->child = (int)args[1] > 0 ? (int)args[1] : 0;
		break;
	case WAITID_PIDFD:
		call->children = PMP_CHILD_PIDFD;
		call->fd = (int)args[1];
		break;
	default: call->children = PMP_CHILD_GROUP;
	}
	call->own_children = args[3] & __WNOTHREAD;
}

static bool is_vfork(int number, const uint64_t *args, const struct pmp_reader *reader)
{
	uint64_t flags;

#ifdef SYS_vfork
	if (number == SYS_vfork)
		return true;
#endif
	if (number == SYS_clone)
		return args[0] & CLONE_VFORK;
	return number == CALL_CLONE3 &&
	       pmp_read(reader, args[0], &flags, sizeof(flags)) && flags & CLONE_VFORK;
}

static bool decode_child(int number, const uint64_t *args, char state,
			 const struct pmp_reader *reader, struct pmp_outside_call *call)
{
	call->does = PMP_DOES_WAIT_CHILD;
	if (number == SYS_wait4) {
		decode_wait4(args, call);
	} else if (number == SYS_waitid) {
		decode_waitid(args, call);
	} else if (state == 'D' && is_vfork(number, args, reader)) {
		call->does = PMP_DOES_VFORK;
		call->own_children = true;
	} else {
		return false;
	}
	return true;
}

static bool decode_semop(int number, const uint64_t *args,
			 const struct pmp_reader *reader, struct pmp_outside_call *call)
{
	struct {
		uint16_t number;
		int16_t operation, flags;
	} operations[PMP_SEMOPS_MAX];
	size_t count = args[2] < PMP_SEMOPS_MAX ? (size_t)args[2] : PMP_SEMOPS_MAX;

	if (number != SYS_semtimedop
#ifdef SYS_semop
	    && number != SYS_semop
#endif
	)
		return false;
	call->does = PMP_DOES_SEMOP;
	call->set = (int)args[0];
	call->timed = number == SYS_semtimedop && args[3];
	if (!count || !pmp_read(reader, args[1], operations, count * sizeof(*operations)))
		return true;
	call->semop_count = count;
	for (size_t i = 0; i < count; i++)
		call->semops[i] = (struct pmp_semop){ operations[i].number,
						      operations[i].operation };
	return true;
}

bool pmp_outside_decode(int number, const uint64_t *args, char state,
			const struct pmp_reader *reader, struct pmp_outside_call *call)
{
	bool known;

	*call = (struct pmp_outside_call){ .fd = -1 };
	known = decode_stream(number, args, call) ||
		decode_lock(number, args, reader, call);
	if (!known) {
		*call = (struct pmp_outside_call){ .fd = -1 };
		known = decode_child(number, args, state, reader, call) ||
			decode_semop(number, args, reader, call);
	}
	if (!known)
		*call = (struct pmp_outside_call){ .fd = -1 };
	return known;
}
