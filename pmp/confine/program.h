/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts other programs that read data from a server or a crashed program, such as
 * debuginfod-find and zstd. Such data may exploit a bug in them. */
#ifndef PMP_CONFINE_PROGRAM_H
#define PMP_CONFINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct confine_program {
	uid_t user; /* root changes to this user */
	int rules;  /* of confine_rules_new(), or -1 */
	bool network;
	uint64_t memory;    /* bytes of address space */
	uint64_t file_size; /* bytes that it may write into a file */
	uint64_t work_time; /* seconds of CPU time; 0: no limit */
	uint64_t processes; /* of that user, if root changes to it; 0: no limit */
};

/** Find a program like execvp(); "" if there is none. */
void confine_find_program(const char *name, char *path, size_t size);
/** Allow reading programs, libraries and what lies beside program (an absolute path, or
 * ""), and writing to /dev/null. */
void confine_read_programs(int rules, const char *program);
/** The rights that it would keep: of enum confine_missing. */
unsigned confine_program_missing(const struct confine_program *program);

struct confine_start {
	const char *path;
	char *const *argv, *const *environment;
	int input, output, errors; /* its descriptors 0, 1 and 2; -1: /dev/null */
	int folder;		   /* its working directory; -1: ours */
	const struct confine_program *program; /* NULL: it keeps all rights of pmp */
};

/** Start a program. It has no other descriptors, a session of its own, as ^C is for pmp,
 * default actions for signals, and dies with pmp. 0, or an errno: there is no process then.
 * Fails if it would have root's rights. */
int confine_start(const struct confine_start *start, pid_t *pid);

#endif
