/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front's handle of the server: a process without rights and files that speaks HTTP,
 * and a keeper that restarts it when it dies. Both are forked before pmp reads anything of
 * a target, so their memory has nothing of one.
 */
#ifndef PMP_SERVE_SERVER_H
#define PMP_SERVE_SERVER_H

#include "serve/access.h"

#include "libpmp.h"

#include <sys/types.h>

struct serve_counts;

struct server {
	pid_t keeper; /* 0: none */
	int fd;	      /* for messages of protocol.h; -1: none */
	struct serve_counts *counts;
};

/** Start the server at a listening socket, which stays the caller's; reports: see
 * connections.h. 0 or an enum pmp_status. Must be called while single-threaded. */
int server_start(struct server *server, int listener, const struct access_rules *rules,
		 bool reports, struct pmp_error *err);
/** Let it complete responses being written, and end it. */
void server_stop(struct server *server);

#endif
