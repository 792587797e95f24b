/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that unpack cores: they get what a hostile program may have made, and have no
 * rights (confine/program.h). */
#ifndef PMP_SOURCE_UNPACKER_H
#define PMP_SOURCE_UNPACKER_H

#include <stdbool.h>
#include <sys/types.h>

struct unpacker {
	int output;	  /* a pipe with what it makes of it */
	pid_t pid;	  /* to be waited for */
	unsigned missing; /* of enum confine_missing */
};

/** Start a program (zstd, for instance) that unpacks the file input from its current place on;
 * with_rights: as any other program. 0, or the errno of why it cannot be started. */
int unpacker_start(struct unpacker *unpacker, const char *program, int input,
		   bool with_rights);

#endif
