/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both sides remember about a target: its newest maps and the modules in them. Other
 * modules are forgotten, so a target that keeps mapping files does not exhaust descriptors.
 */
#ifndef PMP_WIRE_PEERS_H
#define PMP_WIRE_PEERS_H

#include "sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_sent_module {
	uint32_t id;
	int fd;		/* as sent: a module may be opened later */
	uint32_t order; /* in which it was put: of two with one id the later counts */
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
	struct pmp_sent_module *items; /* ascending ids, each once, unless unsorted */
	size_t count, capacity;
	uint64_t bytes; /* of memory, about */
	uint32_t order; /* of the last that was put */
	bool unsorted;
};

struct pmp_peer {
	pid_t pid;
	uint64_t used;		  /* value of .uses when it was last used */
	struct pmp_maps *maps;	  /* the newest; a reference; NULL: none yet */
	struct pmp_sample *last;  /* a reference (receiver) */
	struct pmp_sample *spare; /* its memory is reused for the next one (receiver) */
	struct pmp_sent_thread *sent; /* the threads of the last sample (sender) */
	size_t sent_count, sent_capacity;
	uint64_t standstill;	       /* of that sample, or 0 (sender) */
	struct pmp_sent_modules known; /* modules in maps, and (receiver) later ones */
};

struct pmp_peers {
	struct pmp_peer *items;
	size_t count, capacity;
	uint64_t uses;
};

/* Release all modules. */
void pmp_sent_modules_free(struct pmp_sent_modules *known);
/* Add a module, or replace the one with its id. Takes over the reference; room for one more has
 * been reserved. The list is to be sorted before anything is found in it. */
void pmp_sent_modules_put(struct pmp_sent_modules *known, struct pmp_module *module);
void pmp_sent_modules_sort(struct pmp_sent_modules *known);
/* The memory that a module takes with so many bytes of its own, about. */
uint64_t pmp_sent_module_size(uint64_t bytes);
/* NULL: it is not there. The list must be sorted. */
struct pmp_sent_module *pmp_sent_modules_find(const struct pmp_sent_modules *known,
					      uint32_t id);
/* The modules of maps, sorted, with references. PMP_EFORMAT: an id occurs twice. */
int pmp_sent_modules_of(const struct pmp_maps *maps, struct pmp_sent_modules *known);

/* The peer of a target, which counts as a use; NULL: there is none. */
struct pmp_peer *pmp_peers_find(struct pmp_peers *peers, pid_t pid);
/* Add a peer; invalidates pointers to others. NULL: out of memory. */
struct pmp_peer *pmp_peers_add(struct pmp_peers *peers, pid_t pid);
void pmp_peers_remove(struct pmp_peers *peers, struct pmp_peer *peer);
void pmp_peers_free(struct pmp_peers *peers);
/* The memory of all modules that are known, about. */
uint64_t pmp_peers_bytes(const struct pmp_peers *peers);
/* Set the newest maps of a target, and the modules in them. Takes over the caller's
 * reference and the list. */
void pmp_peer_set_maps(struct pmp_peer *peer, struct pmp_maps *maps,
		       struct pmp_sent_modules known);

#endif
