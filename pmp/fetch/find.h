/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program debuginfod-find, started for one file. */
#ifndef PMP_FETCH_FIND_H
#define PMP_FETCH_FIND_H

#include "libpmp.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PMP_FIND_LINE 4096

struct find {
	pid_t pid;
	int fd;			  /* of what it prints, not blocking */
	char line[PMP_FIND_LINE]; /* the one that is being read */
	size_t length;
	char path[PMP_FIND_LINE]; /* of the file, or "" */
	char problem[256];	  /* what it says of a failure, or "" */
	uint64_t done, total;	  /* bytes; total 0: not known */
};

/** Set the limits that the user has not. To be called while single-threaded. */
void find_limit(void);
/** 0, or the errno of why it cannot be started. */
int find_start(struct find *find, const struct pmp_wanted_file *wanted);
/** Read what it has printed. False: it has ended, or closed its output. */
bool find_read(struct find *find);
/** Kill it if it still runs, and reap it. */
void find_end(struct find *find);

#endif
