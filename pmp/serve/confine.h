/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confine the server: it may read and write what is open, accept connections, allocate
 * memory, read clocks, and ask who is at the other end of a socket. It cannot open files,
 * connect, execute programs or touch other processes.
 */
#ifndef PMP_SERVE_CONFINE_H
#define PMP_SERVE_CONFINE_H

#include <stdbool.h>

/** Install the filter: any other system call kills the process. False: see
 * confine_calls(). */
bool confine_server(void);

#endif
