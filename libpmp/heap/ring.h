/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's end of the ring. Records are untrusted. The reader waits for an incomplete
 * record, as its thread may be writing it, and skips it after a while, as the thread is
 * gone.
 */
#ifndef PMP_HEAP_RING_H
#define PMP_HEAP_RING_H

#include "heap/shared.h"

struct pmp_heap_ring {
	struct pmp_heap_shared *shared; /* borrowed */
	uint64_t tail;
	uint64_t waiting;  /* since when it waits for the record at tail; 0: not */
	uint64_t unwanted; /* bytes skipped as invalid, so far */
	uint64_t
		given_up; /* incomplete records before this position are not waited for */
};

struct pmp_heap_entry {
	struct pmp_heap_record record; /* a copy, with validated numbers */
	const unsigned char *stack;    /* record.stack_size bytes, which may change */
};

/* Start where an earlier reader, if any, has stopped. */
void pmp_heap_ring_begin(struct pmp_heap_ring *ring, struct pmp_heap_shared *shared);
/*
 * The next record. now: CLOCK_MONOTONIC. Returns true and sets *entry, which is valid until
 * pmp_heap_ring_done(); false: there is none yet.
 */
bool pmp_heap_ring_next(struct pmp_heap_ring *ring, uint64_t now,
			struct pmp_heap_entry *entry);
/* The position after all records so far, including incomplete ones. */
uint64_t pmp_heap_ring_written(const struct pmp_heap_ring *ring);
/* The number of bytes still to be read. */
uint64_t pmp_heap_ring_filled(const struct pmp_heap_ring *ring);
/* Free the room of a record that has been used. */
void pmp_heap_ring_done(struct pmp_heap_ring *ring, const struct pmp_heap_entry *entry);

#endif
