/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main loop of the server: accepts connections, reads and judges requests, has
 * the front answer them, writes responses. One poll() loop; each state of a
 * connection has a deadline.
 */
#ifndef PMP_SERVE_CONNECTIONS_H
#define PMP_SERVE_CONNECTIONS_H

#include "serve/access.h"
#include "serve/counts.h"

struct connections_options {
	const struct access_rules *rules;
	struct serve_counts *counts; /* of its answers */
	size_t most;		     /* connections at once, SERVE_CONNECTIONS or fewer */
	bool reports;		     /* report each granted request to the front */
	unsigned before;	     /* servers that ended before this one */
	bool unfiltered;	     /* it runs without a filter of system calls */
};

/**
 * Serve connections to a listening socket, until the front closes its end of the pair and
 * responses being written are complete. Returns the exit status.
 */
int connections_serve(int listener, int front, const struct connections_options *options);

#endif
