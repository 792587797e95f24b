/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that are not pmp's, which read what a server or a crashed program has made:
 * debuginfod-find, zstd. Such input may exploit a fault in them. */
#ifndef PMP_CONFINE_PROGRAM_H
#define PMP_CONFINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct confine_program {
	uid_t user; /* that root becomes */
	int rules;  /* of confine_rules_new(), or -1 */
	bool network;
	uint64_t memory;    /* of its address space */
	uint64_t file_size; /* of what it writes */
	uint64_t work_time; /* seconds of processor time; 0: any */
	uint64_t processes; /* of that user, if root becomes him; 0: any */
};

/** Where a program is, as execvp() finds it; "" if there is none. */
void confine_find_program(const char *name, char *path, size_t size);
/** It may read programs, libraries and what lies beside it, and write to /dev/null. program: an
 * absolute path, or "". */
void confine_read_programs(int rules, const char *program);
/** What it would have all the same: of enum confine_missing. */
unsigned confine_program_missing(const struct confine_program *program);

struct confine_start {
	const char *path;
	char *const *argv, *const *environment;
	int input, output, errors; /* its descriptors 0, 1 and 2; -1: /dev/null */
	int folder;		   /* where it is started; -1: here */
	const struct confine_program *program; /* NULL: it has all rights of pmp */
};

/** Start one. It has no other descriptors, a session of its own, as ^C is for pmp, no handlers
 * of signals, and ends with pmp. 0, or the errno of why it cannot be started: there is no
 * process then. One that would have rights of root is not. */
int confine_start(const struct confine_start *start, pid_t *pid);

#endif
