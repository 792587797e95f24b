/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that needs no rights gives up, as far as the kernel can take it. */
#ifndef PMP_CONFINE_RIGHTS_H
#define PMP_CONFINE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Who owns nothing and runs nothing else: distributions leave this id unused. Programs that run
 * as 65534 could stop or kill processes of the same user. */
#define CONFINE_NOBODY 65531
/* The same for programs that unpack files, which could signal processes of that user. */
#define CONFINE_UNPACKER 65530

/* What a process that is to have no rights has kept: this kernel cannot take it away, or who
 * runs pmp may not. */
enum confine_missing {
	CONFINE_CALLS = 1, /* a filter of system calls is missing */
	CONFINE_FILES = 2, /* rules for files */
	CONFINE_LIMITS = 4,
	CONFINE_USER = 8, /* it is root still */
	CONFINE_CAPABILITIES = 16,
};

/** Of the capabilities (capabilities(7)) of this thread only those stay whose bits are set, of
 * which it may not have all; its bounding set is what is given. No program gives any rights. */
bool confine_keep(uint64_t kept, uint64_t given);
/** Is this one effective? */
bool confine_has(unsigned capability);
/** Root becomes this user, in no group; whoever it is has no capabilities any more, and no
 * program gives any rights. */
bool confine_rights(uid_t user);
/** The same with a user who owns nothing; and no other process may trace this one. What is
 * missing of that: of enum confine_missing. */
unsigned confine_drop_user(void);
/** A limit of setrlimit(2), if it is not lower already. */
bool confine_limit(int resource, uint64_t most);
/** The address space; not in builds whose sanitizer takes all of it. */
bool confine_memory(uint64_t most);
/** The same of memory that is its own and can be written, without mapped files. */
bool confine_data(uint64_t most);
/** Is the system call filter of seccomp(2) there? */
bool confine_has_filters(void);

#endif
