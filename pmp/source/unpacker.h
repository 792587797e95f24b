/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that unpack cores: they get what a hostile program may have made, and have no
 * rights (confine/program.h). */
#ifndef PMP_SOURCE_UNPACKER_H
#define PMP_SOURCE_UNPACKER_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * Start a program (zstd, for instance) that unpacks the file input from its current place on;
 * with_rights: as any other program. *output is a pipe with what it makes of it, and *pid to be
 * waited for. 0, or the errno of why it cannot be started.
 */
int unpacker_start(const char *program, int input, bool with_rights, int *output,
		   pid_t *pid);

#endif
