/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both sides remember of a target: its newest maps and the modules in them. Others are
 * forgotten, so a target that maps for ever costs no descriptors.
 */
#ifndef PMP_WIRE_PEERS_H
#define PMP_WIRE_PEERS_H

#include "sample.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_sent_module {
	uint32_t id;
	int fd;			   /* as it was sent: a module may be opened later */
	struct pmp_module *module; /* a reference */
};

/* A thread as it was sent. */
struct pmp_sent_thread {
	pid_t tid;
	uint64_t reading;
	struct pmp_wait wait;
	uint64_t asleep_since;
};

struct pmp_sent_modules {
	struct pmp_sent_module *items; /* ascending ids */
	size_t count, capacity;
};

struct pmp_peer {
	pid_t pid;
	uint64_t used;		      /* when, by the count of uses */
	struct pmp_maps *maps;	      /* the newest; a reference; NULL: none yet */
	struct pmp_sample *last;      /* a reference (receiver) */
	struct pmp_sample *spare;     /* for the next one: its memory (receiver) */
	struct pmp_sent_thread *sent; /* the threads of the last sample (sender) */
	size_t sent_count, sent_capacity;
	uint64_t standstill;	       /* of that sample, or 0 (sender) */
	struct pmp_sent_modules known; /* the modules in it, and (receiver) later ones */
};

struct pmp_peers {
	struct pmp_peer *items;
	size_t count, capacity;
	uint64_t uses;
};

/* Release all of them. */
void pmp_sent_modules_free(struct pmp_sent_modules *known);
/* Where id is or belongs. */
size_t pmp_sent_modules_index(const struct pmp_sent_modules *known, uint32_t id);
struct pmp_sent_module *pmp_sent_modules_find(const struct pmp_sent_modules *known,
					      uint32_t id);
/* The modules of maps, sorted, with references. PMP_EFORMAT: an id occurs twice. */
int pmp_sent_modules_of(const struct pmp_maps *maps, struct pmp_sent_modules *known);

/* NULL: there is none. It has been used now. */
struct pmp_peer *pmp_peers_find(struct pmp_peers *peers, pid_t pid);
/* NULL: no memory. Those that were found before may have moved. */
struct pmp_peer *pmp_peers_add(struct pmp_peers *peers, pid_t pid);
void pmp_peers_remove(struct pmp_peers *peers, struct pmp_peer *peer);
void pmp_peers_free(struct pmp_peers *peers);
/* The newest maps of a target are these from now on, and its modules those: takes over a
 * reference and the list. */
void pmp_peer_set_maps(struct pmp_peer *peer, struct pmp_maps *maps,
		       struct pmp_sent_modules known);

#endif
