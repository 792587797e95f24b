/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a descriptor refers to, and who else has that open: one walk over the descriptors
 * of all processes, 5 to 8 us of CPU for each. The text of a link may be a misleading file
 * name, and a file system may be a hostile process: so nothing is opened, and file systems
 * are asked only for what the kernel has in memory.
 */
#ifndef PMP_PROC_DESCRIPTORS_H
#define PMP_PROC_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "proc/file-locks.h"
#include "proc/process.h"

#define PMP_DESCRIPTORS_MAX 100000 /* per walk */
/* Time limit of a walk: for a file with very many locks, the kernel writes all of them for
 * each of its descriptors. */
#define PMP_DESCRIPTORS_TIME (3 * PMP_S)

enum pmp_descriptor_type {
	PMP_DESCRIPTOR_OTHER, /* also if it could not be read */
	PMP_DESCRIPTOR_FILE,
	PMP_DESCRIPTOR_PIPE,
	PMP_DESCRIPTOR_FIFO,
	PMP_DESCRIPTOR_SOCKET,
	PMP_DESCRIPTOR_DEVICE,
	PMP_DESCRIPTOR_ANONYMOUS, /* an eventfd, an epoll set: path is its type */
};

struct pmp_descriptor {
	enum pmp_descriptor_type type;
	uint64_t device, inode;
	uint64_t lock_inode; /* inode in the kernel's lists of locks; mostly the same */
	struct pmp_fdinfo info;
	uint32_t watched; /* descriptors in an epoll set; 0: unknown */
	/* Of files, FIFOs and devices, only its end if it is too long; or "eventpoll",
	 * "inotify". */
	char path[PMP_OUTSIDE_TEXT];
};

/* Parses "anon_inode:[eventpoll]" into "eventpoll" in name, of PMP_OUTSIDE_TEXT bytes;
 * false: not such a link. */
bool pmp_descriptor_parse_name(const char *link, char *name);
/* Parses "pipe:[442102]" or "socket:[442102]"; false: not such a link. */
bool pmp_descriptor_parse(const char *link, enum pmp_descriptor_type *type,
			  uint64_t *inode);
/* Read a descriptor of a thread. 0 or a negative errno. */
int pmp_descriptor_read(const struct pmp_process *process, pid_t tid, int fd,
			struct pmp_descriptor *descriptor);

/* Something that a walk looks for. */
struct pmp_seek {
	enum pmp_descriptor_type type; /* PIPE, FIFO or SOCKET; FILE: the lock */
	uint64_t inode;
	uint64_t device; /* of a FIFO or file */
	struct pmp_file_lock lock;
	size_t number; /* for the caller */
};

struct pmp_seeker {
	struct pmp_seek *seeks; /* sorted by the walk */
	size_t count;
	uint64_t time;	    /* time limit in ns, mostly PMP_DESCRIPTORS_TIME */
	size_t descriptors; /* out: how many were read */
	bool cut;	    /* out: not all were read */
	size_t hidden;	    /* out: processes whose descriptors may not be read */
	/* Called for each descriptor that matches one of the seeks. */
	int (*found)(void *arg, const struct pmp_seek *seek, pid_t pid, int fd,
		     unsigned flags);
	void (*alive)(void *arg); /* NULL, or called now and then */
	void *arg, *alive_arg;
};

/* 0, the first non-zero result of found(), or PMP_EIO: no /proc. */
int pmp_descriptors_walk(struct pmp_seeker *seeker);

#endif
