/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * File locks as listed by the kernel: all in /proc/locks, and those of a descriptor in its
 * fdinfo. Pure parsers.
 */
#ifndef PMP_PROC_FILE_LOCKS_H
#define PMP_PROC_FILE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sample.h"

#define PMP_FILE_LOCKS_MAX 65536 /* in /proc/locks; the rest is ignored */
#define PMP_FDINFO_LOCKS 128	 /* of a descriptor: more than fit into a page of text */

struct pmp_file_lock {
	uint64_t id;		    /* of the held lock; its waiters have the same */
	enum pmp_outside_type type; /* PMP_OUTSIDE_FLOCK, _FCNTL or _OFD */
	bool waits, write;
	pid_t pid; /* who took it; -1: unknown, as for OFD locks; 0: not visible in our pid
		    * namespace */
	unsigned major, minor; /* device */
	uint64_t inode;
	uint64_t first, last; /* bytes; last UINT64_MAX: to the end of the file */
};

struct pmp_file_locks {
	struct pmp_file_lock *items;
	size_t count, capacity;
	/* By file: held locks in the order listed, then waiters. */
	const struct pmp_file_lock **sorted;
};

/* Parse a line of /proc/locks, or what follows "lock:" in fdinfo. False: something else,
 * such as a lease. */
bool pmp_file_lock_parse(const char *line, size_t length, struct pmp_file_lock *lock);
/* Append all locks of a text like /proc/locks. 0 or PMP_ENOMEM. */
int pmp_file_locks_parse(struct pmp_file_locks *locks, const char *text, size_t length);
/* The conflicting lock, which the kernel lists before all its waiters; NULL: none is
 * listed. */
const struct pmp_file_lock *pmp_file_locks_held(const struct pmp_file_locks *locks,
						const struct pmp_file_lock *waiter);
/* Call it once all have been added, before searching. 0 or PMP_ENOMEM. */
int pmp_file_locks_sort(struct pmp_file_locks *locks);
/* The index in sorted of the first held lock of files with this inode, followed by others;
 * if there is none, where it would be. */
size_t pmp_file_locks_first_held(const struct pmp_file_locks *locks, uint64_t inode);
/* A waiter for the same as wanted: inode, type, pid and write are equal, and first and
 * last, too, if range. NULL: none. */
const struct pmp_file_lock *pmp_file_locks_waiter(const struct pmp_file_locks *locks,
						  const struct pmp_file_lock *wanted,
						  bool range);
void pmp_file_locks_free(struct pmp_file_locks *locks);

/* What fdinfo tells about a descriptor; missing fields are 0. */
struct pmp_fdinfo {
	unsigned flags; /* of open(2) */
	uint64_t inode;
	pid_t pid;	  /* of a pidfd; 0: not a pidfd */
	uint32_t watched; /* descriptors in an epoll set, as far as the text goes */
};
/* False: not the text of such a file. */
bool pmp_fdinfo_parse(const char *text, size_t length, struct pmp_fdinfo *info);
/* Parse the first max locks of the descriptor. Returns their number. */
size_t pmp_fdinfo_locks(const char *text, size_t length, struct pmp_file_lock *locks,
			size_t max);
/* Do both have the same type, file and range, and the same process that took them? (The
 * kernel does not know that of OFD locks.) All processes that share an open file
 * description show the one that took its lock; after the lock has been released and taken
 * by another, the next holder shows itself. */
bool pmp_file_lock_is_same(const struct pmp_file_lock *one,
			   const struct pmp_file_lock *other);

#endif
