/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May a file of a process be read, or does its file system belong to a user who may let us
 * wait for ever? Any user may mount a file server of his own (FUSE) in a user namespace.
 * Such a mount alone refuses root, but an overlay above it asks the server with the rights of
 * the user who has mounted it; whoever waits for an answer cannot be killed.
 *
 * Files of FUSE are read if root or our own user has mounted it where we see it, or in a
 * namespace of our own user namespace. Files of an overlay are read if we see that, too,
 * as those of containers from their host, or if it is in such a namespace. Who has no
 * capabilities reads all: only his own processes.
 */
#ifndef PMP_PROC_MOUNTS_H
#define PMP_PROC_MOUNTS_H

#include "proc/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct pmp_mount_question {
	uint64_t device; /* of the file, in makedev() form; 0: unknown */
	uint64_t mount;	 /* the id of its mount; 0: unknown */
	uid_t user;	 /* who asks */
};

enum pmp_mount_verdict {
	PMP_MOUNT_READ,
	PMP_MOUNT_REFUSED,
	PMP_MOUNT_IF_OURS, /* read, if the process's mount namespace is one of our own user
			    * namespace */
	PMP_MOUNT_UNKNOWN, /* no such mount */
};

/* Pure: the texts are ours and the process's mountinfo. */
enum pmp_mount_verdict pmp_mounts_judge(const char *ours, size_t ours_length,
					const char *theirs, size_t theirs_length,
					const struct pmp_mount_question *question);

#define PMP_MOUNTS_KEPT 8

/* What was found, for a moment. Descriptors keep a mount, so that its id is not reused. */
struct pmp_mounts {
	struct pmp_mount_kept {
		uint64_t device, mount;
		int fd;
		bool trusted;
	} kept[PMP_MOUNTS_KEPT];
	size_t count;
};

void pmp_mounts_forget(struct pmp_mounts *mounts);
/*
 * May the file of an O_PATH descriptor be read? Asks no file server. 0, with *file; or a
 * negative errno, -PMP_EFOREIGN: no, with *file if file->st_ino is not 0. process->mounts,
 * if not NULL, is used for several files.
 */
int pmp_mounts_check(const struct pmp_process *process, int fd, struct stat *file);
/* fstat() that asks no file server, for what cannot change: type, device and inode. 0 or a
 * negative errno. */
int pmp_mounts_look(int fd, struct stat *file);

#endif
