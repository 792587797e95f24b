/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of files as the kernel lists them: all in /proc/locks, and those that belong to a
 * descriptor in its fdinfo. Pure parsers.
 */
#ifndef PMP_PROC_FILE_LOCKS_H
#define PMP_PROC_FILE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sample.h"

#define PMP_FILE_LOCKS_MAX 65536 /* of those in /proc/locks; the rest is not looked at */
#define PMP_FDINFO_LOCKS 128	 /* of a descriptor: more than a page of text has */

struct pmp_file_lock {
	uint64_t id; /* of one that is held; who waits for it has the same */
	enum pmp_outside_type type; /* PMP_OUTSIDE_FLOCK, _FCNTL or _OFD */
	bool waits, write;
	pid_t pid; /* who took it; -1: not told, of OFD locks; 0: in no pid namespace of ours */
	unsigned major, minor; /* device */
	uint64_t inode;
	uint64_t first, last; /* bytes; last UINT64_MAX: to the end of the file */
};

struct pmp_file_locks {
	struct pmp_file_lock *items;
	size_t count, capacity;
	/* By file: those that are held, as they are listed, then who waits. */
	const struct pmp_file_lock **sorted;
};

/* A line of /proc/locks, or what follows "lock:" in fdinfo. False: another one, such as of
 * a lease. */
bool pmp_file_lock_parse(const char *line, size_t length, struct pmp_file_lock *lock);
/* Append all locks of a text like /proc/locks. 0 or PMP_ENOMEM. */
int pmp_file_locks_parse(struct pmp_file_locks *locks, const char *text, size_t length);
/* The one that stands in its way, which the kernel lists before all who wait for it; NULL:
 * none is listed. */
const struct pmp_file_lock *pmp_file_locks_held(const struct pmp_file_locks *locks,
						const struct pmp_file_lock *waiter);
/* Once all have been added: then they may be searched. 0 or PMP_ENOMEM. */
int pmp_file_locks_sort(struct pmp_file_locks *locks);
/* The first one in sorted that is held of files with this inode, others follow it; if there
 * is none, where it would be. */
size_t pmp_file_locks_first_held(const struct pmp_file_locks *locks, uint64_t inode);
/* One that waits for what wanted does: inode, type, pid and write are the same, and first
 * and last too, unless range is false. NULL: none. */
const struct pmp_file_lock *pmp_file_locks_waiter(const struct pmp_file_locks *locks,
						  const struct pmp_file_lock *wanted,
						  bool range);
void pmp_file_locks_free(struct pmp_file_locks *locks);

/* What fdinfo says of a descriptor; what is missing is 0. */
struct pmp_fdinfo {
	unsigned flags; /* of open(2) */
	uint64_t inode;
	pid_t pid;	  /* of a pidfd; 0: it is none */
	uint32_t watched; /* descriptors, of an epoll set, as far as the text goes */
};
/* False: not the text of such a file. */
bool pmp_fdinfo_parse(const char *text, size_t length, struct pmp_fdinfo *info);
/* The locks of the descriptor, the first max of them; how many. */
size_t pmp_fdinfo_locks(const char *text, size_t length, struct pmp_file_lock *locks,
			size_t max);
/* The same type, file and bytes? */
bool pmp_file_lock_is_same(const struct pmp_file_lock *one,
			   const struct pmp_file_lock *other);

#endif
