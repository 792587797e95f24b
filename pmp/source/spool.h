/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Temporary files without a name. */
#ifndef PMP_SOURCE_SPOOL_H
#define PMP_SOURCE_SPOOL_H

#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One in $TMPDIR or /var/tmp. Its descriptor, or a code of libpmp.h. */
int spool_open(struct pmp_error *err);
/** What is to be copied: length bytes that have been read before, and all that is still to
 * come from fd. */
struct spool_input {
	const void *before;
	size_t length;
	int fd;
	const char *name; /* for messages */
};

/** Copy it, up to limit bytes, with holes for zeros. 0 or a code of libpmp.h. */
int spool_copy(int spool, const struct spool_input *input, uint64_t limit,
	       struct pmp_error *err);
/** A file that is packed, read from its current place on. */
struct spool_packed {
	int fd;
	const char *name;    /* for messages */
	const char *program; /* that unpacks it: zstd, for instance */
	bool with_rights;    /* as any other program; else without any */
	unsigned missing;    /* set: of enum confine_missing */
};

/** Write what the program makes of it. *status is what waitpid() says of the program. 0 or a
 * code of libpmp.h. */
int spool_unpack(int spool, struct spool_packed *packed, int *status,
		 struct pmp_error *err);

#endif
