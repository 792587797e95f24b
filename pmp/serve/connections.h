/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the server does all the time: takes connections, reads requests, judges them, has the
 * front answer, writes. One poll() loop; every state of a connection has a deadline.
 */
#ifndef PMP_SERVE_CONNECTIONS_H
#define PMP_SERVE_CONNECTIONS_H

#include "serve/access.h"
#include "serve/counts.h"

struct connections_options {
	const struct access_rules *rules;
	struct serve_counts *counts; /* where it counts what it answers */
	size_t most;		     /* connections at once, SERVE_CONNECTIONS or fewer */
	bool reports;	 /* of what was asked by those who may, each to the front */
	unsigned before; /* servers that have ended before this one */
	bool unfiltered; /* the kernel could not confine it */
};

/**
 * Serve what comes in at a listening socket, until the front closes its end of the pair and
 * what is being written has been. Returns the status to end with.
 */
int connections_serve(int listener, int front, const struct connections_options *options);

#endif
