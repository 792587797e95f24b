/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restricts the files that a process may open by path: rules of landlock(7). */
#ifndef PMP_CONFINE_LANDLOCK_H
#define PMP_CONFINE_LANDLOCK_H

#include <stdbool.h>

/** Create rules that allow nothing: no files, and no signals to or abstract sockets of
 * processes outside. network: do not restrict ports; otherwise none is allowed. A
 * descriptor; -1: the kernel has no such rules. */
int confine_rules_new(bool network);
/** Allow reading and executing a file, or everything below a directory. False: failed. */
bool confine_rules_read(int rules, const char *path);
/** Allow reading, creating, writing and removing everything below a
 * directory, or writing a file. */
bool confine_rules_write(int rules, int fd);
/** Apply the rules to this thread from now on. */
bool confine_rules_enter(int rules);
/** Returns what these rules do not take away from a process without a filter of system
 * calls, as the kernel's are too old or there are none: of enum confine_missing. */
unsigned confine_rules_lack(void);
/** Allow no file to be opened by path any more. False: the kernel does not support that. */
bool confine_files(void);

#endif
