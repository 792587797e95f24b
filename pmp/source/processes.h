/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the processes that -p, -t and --name select. Any user may give a process any name;
 * so for a process found by name, that name and the user are kept.
 */
#ifndef PMP_SOURCE_PROCESSES_H
#define PMP_SOURCE_PROCESSES_H

#include "options/options.h"

#include <stddef.h>
#include <sys/types.h>

/* A process found by name. */
struct found_process {
	pid_t pid;
	uid_t user;
	uint64_t started; /* as in struct pmp_found_process */
	char name[64];	  /* for %n: NAME-USER if processes of several users match */
};

struct found_processes {
	struct found_process *list;
	size_t count;
};

/**
 * The processes to profile: those of -p, those that the threads of -t belong to, and those
 * found by name; the latter also in found, which found_processes_free() must free. 0, or a
 * status with the message printed.
 */
int find_targets(const struct options *options, struct id_list *pids,
		 struct found_processes *found);
void found_processes_free(struct found_processes *found);

/** The entry of pid in found; NULL if it was not found by name. */
const struct found_process *found_process(const struct found_processes *found, pid_t pid);

#endif
