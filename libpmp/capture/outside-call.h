/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a blocked thread waits for outside its memory, as far as its system call alone
 * tells: no /proc, no queries.
 */
#ifndef PMP_CAPTURE_OUTSIDE_CALL_H
#define PMP_CAPTURE_OUTSIDE_CALL_H

#include "base/reader.h"
#include "sample.h"

#define PMP_SEMOPS_MAX 8 /* operations of one call that are read */

enum pmp_outside_does {
	PMP_DOES_NOTHING, /* waits for nothing outside */
	PMP_DOES_LOCK,
	PMP_DOES_READ, /* data from a pipe or socket */
	PMP_DOES_WRITE,
	PMP_DOES_CONNECT,
	PMP_DOES_ACCEPT,
	PMP_DOES_WAIT_CHILD,
	PMP_DOES_VFORK,
	PMP_DOES_SEMOP,
	PMP_DOES_POLL,	/* what fd watches, or several descriptors */
	PMP_DOES_EVENT, /* of the kernel, without a descriptor */
	PMP_DOES_SIGNAL,
	PMP_DOES_SLEEP,
	PMP_DOES_QUEUE, /* of messages; a System V queue if it has no fd */
	PMP_DOES_IO,	/* with a file or device */
};

/* The children that it waits for. */
enum pmp_children { PMP_CHILD_ANY, PMP_CHILD_ONE, PMP_CHILD_PIDFD, PMP_CHILD_GROUP };

struct pmp_semop {
	uint16_t number;
	int16_t operation;
};

struct pmp_outside_call {
	enum pmp_outside_does does;
	enum pmp_outside_type lock; /* of PMP_DOES_LOCK */
	bool write;		    /* the lock, for writing */
	bool timed;
	bool polls;	   /* it will read or write later, in another call */
	bool own_children; /* only children of this thread, not of its process */
	int fd;
	enum pmp_children children;
	pid_t child;	/* in the process's own namespace */
	uint64_t range; /* PMP_DOES_LOCK by fcntl(): address of its struct flock; or 0 */
	uint64_t address; /* PMP_DOES_CONNECT: of its sockaddr */
	uint32_t length;  /* of that */
	int set;	  /* id of semaphores, or of a System V queue */
	uint32_t watched; /* descriptors of a poll; 0: unknown */
	uint64_t sleep;	  /* ns; 0: unknown, or an absolute time */
	size_t semop_count;
	struct pmp_semop semops[PMP_SEMOPS_MAX];
};

/* A system call that a thread is in. */
struct pmp_blocked_call {
	int number;
	char state;	      /* of the thread */
	const char *wchan;    /* for restart_syscall, whose arguments tell nothing */
	const uint64_t *args; /* six */
	struct pmp_reader reader;
};

/* False, with PMP_DOES_NOTHING: it waits for nothing outside. */
bool pmp_outside_decode(const struct pmp_blocked_call *in, struct pmp_outside_call *call);

#endif
