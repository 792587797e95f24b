/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are meant: by -p, -t and --name. Any user may give a process any name;
 * so of one that was found by name it is kept which name that was and whose process it is.
 */
#ifndef PMP_SOURCE_PROCESSES_H
#define PMP_SOURCE_PROCESSES_H

#include "options/options.h"

#include <stddef.h>
#include <sys/types.h>

/* Found by name. */
struct found_process {
	pid_t pid;
	uid_t user;
	uint64_t started; /* as in struct pmp_found_process */
	char name[64];	  /* for %n: of processes of several users NAME-USER */
};

struct found_processes {
	struct found_process *list;
	size_t count;
};

/**
 * The processes to profile: those asked for, owners of threads, those found by name (also
 * in found, to be freed by found_processes_free()). 0 or a status: the message is printed.
 */
int find_targets(const struct options *options, struct id_list *pids,
		 struct found_processes *found);
void found_processes_free(struct found_processes *found);

/** As what it was found by name; NULL if it was not. */
const struct found_process *found_process(const struct found_processes *found, pid_t pid);

#endif
