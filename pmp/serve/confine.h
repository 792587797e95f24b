/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the server may ask of the kernel: to read and write what it has open, to take
 * connections, memory, the time, and whose the other end of a socket is. No file, no other
 * process, no program, no connection to anywhere.
 */
#ifndef PMP_SERVE_CONFINE_H
#define PMP_SERVE_CONFINE_H

#include <stdbool.h>

/** From now on; another system call is the end of the process. False: see
 * confine_calls(). */
bool confine_server(void);

#endif
