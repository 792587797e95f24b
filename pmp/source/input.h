/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file as its readers want it, a core or a saved profile: its first bytes say which it is.
 * What comes through a pipe, and a core that is compressed, is put into a temporary file
 * without a name first, with holes where it has only zeros.
 */
#ifndef PMP_SOURCE_INPUT_H
#define PMP_SOURCE_INPUT_H

#include "libpmp.h"

#include <stdbool.h>
#include <stdint.h>

struct input {
	int fd; /* of a core seekable; owned, but for standard input */
	bool is_core;
	bool is_program;  /* a file that may be executed */
	uint64_t written; /* CLOCK_REALTIME, ns: when the file last was; 0: not known */
	const char *cut;  /* why it is not complete, or NULL */
	/* What has unpacked it, or NULL; what it had too much (enum confine_missing), and what
	 * that had that saw whether it is a core. */
	const char *unpacker;
	unsigned unpacker_missing, judge_missing;
};

/** Open it; "-" is standard input. with_rights: what unpacks it has those of pmp, else none. 0,
 * or a code of libpmp.h; err->sys_errno is that of an open() that has failed. To be closed in
 * any case. */
int input_open(struct input *input, const char *path, bool with_rights,
	       struct pmp_error *err);
void input_close(struct input *input);

#endif
