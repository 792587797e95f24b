/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parent of the processes that read files, and its messages to and from the front. */
#ifndef PMP_NAMER_PARENT_H
#define PMP_NAMER_PARENT_H

#include <stdbool.h>
#include <sys/types.h>

enum parent_request_kind {
	PARENT_START, /* the answer passes a descriptor: a socket to a process */
	PARENT_END,   /* end and reap pid */
};

struct parent_request {
	enum parent_request_kind kind;
	pid_t pid;
};

struct parent_answer {
	pid_t pid;   /* 0: none */
	int status;  /* of waitpid() */
	bool killed; /* it had not ended by itself */
};

/** In the forked child: drop all rights, and serve requests. First sends the rights that
 * could not be dropped: an unsigned, of enum confine_missing. */
__attribute__((noreturn)) void parent_run(int socket, pid_t front);

#endif
