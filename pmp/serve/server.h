/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server as the front has it: a process without rights and without files that speaks
 * HTTP, and one that starts another when it dies. Both are forked while pmp has read nothing
 * of any target, so that nothing of one is in their memory.
 */
#ifndef PMP_SERVE_SERVER_H
#define PMP_SERVE_SERVER_H

#include "serve/access.h"

#include "libpmp.h"

#include <sys/types.h>

struct serve_counts;

struct server {
	pid_t keeper; /* 0: there is none */
	int fd;	      /* messages of protocol.h; -1: likewise */
	struct serve_counts *counts;
};

/** Start it at a listening socket, which stays the caller's; reports: see connections.h. 0 or
 * an enum pmp_status. To be called while single-threaded. */
int server_start(struct server *server, int listener, const struct access_rules *rules,
		 bool reports, struct pmp_error *err);
/** Have it write what is being written, and end it. */
void server_stop(struct server *server);

#endif
