/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal of a command while the live view has it: what the command writes there is
 * kept in a file, and shown afterwards.
 */
#ifndef PMP_SOURCE_TERMINAL_H
#define PMP_SOURCE_TERMINAL_H

#include "libpmp.h"

#include <stdbool.h>
#include <sys/types.h>

struct command_terminal {
	int output; /* the file; -1: the terminal is the command's */
	off_t shown;
};

/** 0, or a negative code with err filled. */
int terminal_open(struct command_terminal *terminal, struct pmp_error *err);
/** In the process that becomes the command: what is a terminal of its standard input is
 * empty, of its output and errors this file. False: it cannot be done; errno. */
bool terminal_leave(const struct command_terminal *terminal);
/** The view has gone: write what has come since to standard output. */
void terminal_show(struct command_terminal *terminal);
void terminal_close(struct command_terminal *terminal);

#endif
