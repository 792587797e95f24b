/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parent of the processes that read files, and what it and the front say to each other. */
#ifndef PMP_NAMER_PARENT_H
#define PMP_NAMER_PARENT_H

#include <stdbool.h>
#include <sys/types.h>

enum parent_request_kind {
	PARENT_START, /* the answer has a descriptor with it: of a socket to a process */
	PARENT_END,   /* pid: kill it if it lives, and wait for it */
};

struct parent_request {
	enum parent_request_kind kind;
	pid_t pid;
};

struct parent_answer {
	pid_t pid;   /* 0: none */
	int status;  /* of waitpid() */
	bool killed; /* it lived until then */
};

/** In the child of the fork: give up all rights, and serve requests. Says first what is missing:
 * an unsigned, of enum confine_missing. */
__attribute__((noreturn)) void parent_run(int socket, pid_t front);

#endif
