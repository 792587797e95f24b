/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for the terminal of a command while the live view uses it: the output of the
 * command is kept in a file, and shown afterwards.
 */
#ifndef PMP_SOURCE_TERMINAL_H
#define PMP_SOURCE_TERMINAL_H

#include "libpmp.h"

#include <stdbool.h>
#include <sys/types.h>

struct command_terminal {
	int output; /* the file; -1: the command has the terminal */
	off_t shown;
};

/** 0, or a negative code with err filled. */
int terminal_open(struct command_terminal *terminal, struct pmp_error *err);
/** In the process that becomes the command: where standard input is a
 * terminal, make it empty; where standard output or error is, make it this
 * file. False: failed, with errno. */
bool terminal_leave(const struct command_terminal *terminal);
/** The view has ended: write new output of the command to standard output. */
void terminal_show(struct command_terminal *terminal);
void terminal_close(struct command_terminal *terminal);

#endif
