/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a core or a saved profile for its reader; the first bytes tell which it is. Data
 * from a pipe and compressed cores are first copied into an unnamed temporary file, sparse
 * where there are only zeros.
 */
#ifndef PMP_SOURCE_INPUT_H
#define PMP_SOURCE_INPUT_H

#include "libpmp.h"

#include <stdbool.h>
#include <stdint.h>

struct input {
	int fd; /* seekable for a core; owned, except standard input */
	bool is_core;
	bool is_program;  /* a file that may be executed */
	uint64_t written; /* CLOCK_REALTIME, ns: its last modification; 0: not known */
	const char *cut;  /* why it is not complete, or NULL */
	/* The program that has unpacked it, or NULL; the rights (enum
	 * confine_missing) that this program, and the process that looked for a core
	 * in gzip data, failed to drop. */
	const char *unpacker;
	unsigned unpacker_missing, judge_missing;
};

/** Open path; "-" is standard input. with_rights: the unpacking program has the rights of
 * pmp, else none. 0, or a code of libpmp.h; if open() has failed, err->sys_errno is its
 * errno. Must be closed in either case. */
int input_open(struct input *input, const char *path, bool with_rights,
	       struct pmp_error *err);
void input_close(struct input *input);

#endif
