/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that needs no rights gives up, as far as the kernel can take it. */
#ifndef PMP_CONFINE_RIGHTS_H
#define PMP_CONFINE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/** Root becomes a user who owns nothing; no program gives it rights any more, and no other
 * process may trace it. */
bool confine_drop_user(void);
/** It opens no file by its path any more (landlock(7)). False: this kernel cannot. */
bool confine_files(void);
/** A limit of setrlimit(2), if it is not lower already. */
bool confine_limit(int resource, uint64_t most);
/** The address space; not in builds whose sanitizer takes all of it. */
bool confine_memory(uint64_t most);
/** Is the system call filter of seccomp(2) there? */
bool confine_has_filters(void);

#endif
