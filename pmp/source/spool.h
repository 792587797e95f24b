/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unnamed temporary files. */
#ifndef PMP_SOURCE_SPOOL_H
#define PMP_SOURCE_SPOOL_H

#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Create one in $TMPDIR or /var/tmp. Its descriptor, or a code of libpmp.h. */
int spool_open(struct pmp_error *err);
/** What to copy: length bytes that have already been read, and the rest of fd. */
struct spool_input {
	const void *before;
	size_t length;
	int fd;
	const char *name; /* for messages */
};

/** Copy up to limit bytes, with holes for zeros. 0 or a code of libpmp.h. */
int spool_copy(int spool, const struct spool_input *input, uint64_t limit,
	       struct pmp_error *err);
/** A packed file, read from its current offset on. */
struct spool_packed {
	int fd;
	const char *name;    /* for messages */
	const char *program; /* that unpacks it, such as zstd */
	bool with_rights;    /* the program keeps pmp's rights; else it has none */
	unsigned missing;    /* result: of enum confine_missing */
};

/** Write the unpacked file to spool. *status: of the program, as from waitpid(). 0 or a
 * code of libpmp.h. */
int spool_unpack(int spool, struct spool_packed *packed, int *status,
		 struct pmp_error *err);

#endif
