/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /feed/NAME: what has been sent to clients that want each part
 * of the past exactly once. */
#ifndef PMP_SINK_FEEDS_H
#define PMP_SINK_FEEDS_H

#include "serve/routes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct feeds;

/* A feed is identified by a name that the client chooses, its page and the process. The
 * user of the targets has separate feeds, and so cannot consume those of others. */
struct feed_key {
	bool to_target;
	char name[ROUTE_FEED_SIZE];
	const struct page *page;
	const struct pmp_format *format; /* or NULL */
	pid_t pid;
};

struct feed {
	struct feed_key key;
	uint64_t sent;	 /* ns: sent up to this time; 0: nothing */
	uint64_t used;	 /* ns: when it was last requested */
	uint32_t number; /* changes if another feed takes its place */
	uint32_t id;	 /* of an answer that is being sent; 0: none */
	uint64_t to;	 /* the end of that answer, ns */
};

/** NULL: no memory. */
struct feeds *feeds_new(void);
void feeds_free(struct feeds *feeds);
/** The feed of that key; a new one replaces the least recently used feed. */
struct feed *feeds_find(struct feeds *feeds, const struct feed_key *key, uint64_t now);
/** The client has received the answer with this id: the next one begins where that ends. */
void feeds_written(struct feeds *feeds, uint32_t id);

#endif
