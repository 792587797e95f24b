/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has been sent to clients that want each part of the past once: /feed/NAME. */
#ifndef PMP_SINK_FEEDS_H
#define PMP_SINK_FEEDS_H

#include "serve/routes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct feeds;

/* Which one: a name of the client's own, for each page of each process. The user of the targets
 * has feeds of his own: he cannot take away what others are to get. */
struct feed_key {
	bool to_target;
	char name[ROUTE_FEED_SIZE];
	const struct page *page;
	const struct pmp_format *format; /* or NULL */
	pid_t pid;
};

struct feed {
	struct feed_key key;
	uint64_t sent;	 /* ns: all up to then; 0: nothing */
	uint64_t used;	 /* ns: when it was asked for */
	uint32_t number; /* another one in its place has another number */
	uint32_t id;	 /* of an answer that is on its way, */
	uint64_t to;	 /* and what it goes up to */
};

/** NULL: no memory. */
struct feeds *feeds_new(void);
void feeds_free(struct feeds *feeds);
/** The feed of that key; the one that has not been used for longest makes room for it. */
struct feed *feeds_find(struct feeds *feeds, const struct feed_key *key, uint64_t now);
/** The client has the answer of that id: the next one begins where it ends. */
void feeds_written(struct feeds *feeds, uint32_t id);

#endif
