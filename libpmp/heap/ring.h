/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's end of the ring: the next record, of which nothing is believed. A record that
 * is not complete is waited for, as its thread may be at it; one whose thread has gone is
 * skipped.
 */
#ifndef PMP_HEAP_RING_H
#define PMP_HEAP_RING_H

#include "heap/shared.h"

struct pmp_heap_ring {
	struct pmp_heap_shared *shared; /* borrowed */
	uint64_t tail;
	uint64_t waiting;  /* since when, for the record at tail; 0: it is not */
	uint64_t unwanted; /* bytes that made no sense, so far */
};

struct pmp_heap_entry {
	struct pmp_heap_record record; /* a copy; its numbers are within bounds */
	const unsigned char *stack;    /* record.stack_size bytes that may change */
};

/* Where the one before, if any, has stopped. */
void pmp_heap_ring_begin(struct pmp_heap_ring *ring, struct pmp_heap_shared *shared);
/*
 * The next record. now: CLOCK_MONOTONIC. Returns true with *entry, which is valid until
 * pmp_heap_ring_done(); false: there is none yet.
 */
bool pmp_heap_ring_next(struct pmp_heap_ring *ring, uint64_t now,
			struct pmp_heap_entry *entry);
/* Has all been read that there is? */
bool pmp_heap_ring_is_empty(const struct pmp_heap_ring *ring);
/* How many bytes wait to be read. */
uint64_t pmp_heap_ring_filled(const struct pmp_heap_ring *ring);
/* It has been used: its room is free. */
void pmp_heap_ring_done(struct pmp_heap_ring *ring, const struct pmp_heap_entry *entry);

#endif
