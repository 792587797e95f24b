/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drops the rights of a process, as far as the kernel supports that. */
#ifndef PMP_CONFINE_RIGHTS_H
#define PMP_CONFINE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A user who owns nothing and runs nothing else: distributions leave this id unused. With
 * 65534, other programs of that user could stop or kill the processes. */
#define CONFINE_NOBODY 65531
/* The same for programs that unpack files, which could otherwise signal those processes. */
#define CONFINE_UNPACKER 65530

/* What a process without rights could not drop, as the kernel does not support it or the
 * user who runs pmp may not. */
enum confine_missing {
	CONFINE_CALLS = 1, /* a filter of system calls is missing */
	CONFINE_FILES = 2, /* rules for files are missing */
	CONFINE_LIMITS = 4,
	CONFINE_USER = 8, /* it is still root */
	CONFINE_CAPABILITIES = 16,
	CONFINE_NETWORK = 32,
	CONFINE_SIGNALS = 64, /* to processes of its user */
};

/** Keep only the capabilities (capabilities(7)) of this thread whose bits are set in kept,
 * as far as it has them; reduce its bounding set to given. Executed programs grant no
 * rights. False: failed. */
bool confine_keep(uint64_t kept, uint64_t given);
/** Does this thread have this capability in effect? */
bool confine_has(unsigned capability);
/** If root: change to this user, without supplementary groups. In any case drop all
 * capabilities, and have executed programs grant no rights. */
bool confine_rights(uid_t user);
/** The same with a user who owns nothing; and no other process may trace this one. Returns
 * what could not be dropped: of enum confine_missing. */
unsigned confine_drop_user(void);
/** Set a limit of setrlimit(2), unless it is already lower. */
bool confine_limit(int resource, uint64_t most);
/** Limit the address space; not in builds with a sanitizer that reserves all of it. */
bool confine_memory(uint64_t most);
/** The same for private writable memory, without mapped files. */
bool confine_data(uint64_t most);
/** Does the kernel support system call filters of seccomp(2)? */
bool confine_has_filters(void);

#endif
