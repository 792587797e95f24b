/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a descriptor stands for, and who else has that open: one walk over the descriptors
 * of all processes, 5 to 8 us of CPU for each. The text of a link may be a file's own name, and a
 * file system may be a hostile process: so nothing is opened, and no file system is asked
 * for what the kernel does not have in memory.
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

#define PMP_DESCRIPTORS_MAX 100000 /* that one walk looks at, within */
/* Of a file with very many locks the kernel writes all of them for each of its descriptors. */
#define PMP_DESCRIPTORS_TIME (3 * PMP_S)

enum pmp_descriptor_type {
	PMP_DESCRIPTOR_OTHER, /* also what could not be read */
	PMP_DESCRIPTOR_FILE,
	PMP_DESCRIPTOR_PIPE,
	PMP_DESCRIPTOR_FIFO,
	PMP_DESCRIPTOR_SOCKET,
	PMP_DESCRIPTOR_DEVICE,
	PMP_DESCRIPTOR_ANONYMOUS, /* an eventfd, an epoll set: its path is its name */
};

struct pmp_descriptor {
	enum pmp_descriptor_type type;
	uint64_t device, inode;
	uint64_t lock_inode; /* by which the kernel lists its locks; mostly the same */
	struct pmp_fdinfo info;
	uint32_t watched; /* descriptors, of an epoll set; 0: not known */
	/* Of files, FIFOs and devices, its end if it is longer; "eventpoll", "inotify". */
	char path[PMP_OUTSIDE_TEXT];
};

/* "anon_inode:[eventpoll]" to "eventpoll" in name, of PMP_OUTSIDE_TEXT bytes; false:
 * another one. */
bool pmp_descriptor_parse_name(const char *link, char *name);
/* "pipe:[442102]" or "socket:[442102]": the number; false: another one. */
bool pmp_descriptor_parse(const char *link, enum pmp_descriptor_type *type,
			  uint64_t *inode);
/* One of a thread's. 0 or a negative errno. */
int pmp_descriptor_read(const struct pmp_process *process, pid_t tid, int fd,
			struct pmp_descriptor *descriptor);

/* One thing that a walk looks for. */
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
	uint64_t time;	    /* ns that it may take, PMP_DESCRIPTORS_TIME mostly */
	size_t descriptors; /* looked at */
	bool cut;	    /* not all of them were */
	size_t hidden;	    /* processes whose descriptors may not be read */
	/* Called for each descriptor that is one of them. */
	int (*found)(void *arg, const struct pmp_seek *seek, pid_t pid, int fd,
		     unsigned flags);
	void (*alive)(void *arg); /* NULL, or called now and then */
	void *arg, *alive_arg;
};

/* 0, what found() has returned unless 0, or PMP_EIO: no /proc. */
int pmp_descriptors_walk(struct pmp_seeker *seeker);

#endif
