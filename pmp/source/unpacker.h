/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts programs that unpack cores. Their input may come from a hostile program, so they
 * have no rights (confine/program.h). */
#ifndef PMP_SOURCE_UNPACKER_H
#define PMP_SOURCE_UNPACKER_H

#include <stdbool.h>
#include <sys/types.h>

struct unpacker {
	int output;	  /* a pipe with the unpacked data */
	pid_t pid;	  /* the caller must wait for it */
	unsigned missing; /* of enum confine_missing */
};

/** Start a program, such as zstd, that unpacks the file input from its current offset on;
 * with_rights: it keeps pmp's rights. 0, or an errno if it cannot be started. */
int unpacker_start(struct unpacker *unpacker, const char *program, int input,
		   bool with_rights);

#endif
