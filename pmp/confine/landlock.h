/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a process may open by their paths from now on: rules of landlock(7). */
#ifndef PMP_CONFINE_LANDLOCK_H
#define PMP_CONFINE_LANDLOCK_H

#include <stdbool.h>

/** Rules that allow nothing: no file, no signal to and no abstract socket of processes
 * outside. With network sockets stay as they are, else no port is allowed either. A
 * descriptor, or -1: this kernel has no such rules. */
int confine_rules_new(bool network);
/** What is below this path, or the file, may be read and executed. False: it may not. */
bool confine_rules_read(int rules, const char *path);
/** What is below this directory may be read, made, written and removed; a file written. */
bool confine_rules_write(int rules, int fd);
/** They hold from now on. */
bool confine_rules_enter(int rules);
/** No file is opened by its path any more. False: this kernel cannot. */
bool confine_files(void);

#endif
