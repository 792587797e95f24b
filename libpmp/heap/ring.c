/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ring.h. */
#include "heap/ring.h"

#include "base/clock.h"
#include "base/fault.h"
#include "heap-batch.h"

#include <string.h>

#define PATIENCE PMP_S /* how long to wait for an incomplete record */
#define LOOKS_MOST \
	(2 * PMP_HEAP_RING_SIZE / PMP_HEAP_ALIGN) /* positions checked in a call */

static uint64_t head_of(const struct pmp_heap_ring *ring)
{
	return __atomic_load_n(&ring->shared->header->head, __ATOMIC_ACQUIRE);
}

static void move_tail(struct pmp_heap_ring *ring, uint64_t tail)
{
	ring->tail = tail;
	ring->waiting = 0;
	__atomic_store_n(&ring->shared->header->tail, tail, __ATOMIC_RELEASE);
}

void pmp_heap_ring_begin(struct pmp_heap_ring *ring, struct pmp_heap_shared *shared)
{
	*ring = (struct pmp_heap_ring){ .shared = shared };
	ring->tail = __atomic_load_n(&shared->header->tail, __ATOMIC_ACQUIRE) &
		     ~(uint64_t)(PMP_HEAP_ALIGN - 1);
	move_tail(ring, ring->tail);
}

uint64_t pmp_heap_ring_filled(const struct pmp_heap_ring *ring)
{
	return head_of(ring) - ring->tail;
}

static const unsigned char *at_position(const struct pmp_heap_ring *ring,
					uint64_t position)
{
	return ring->shared->ring + position % PMP_HEAP_RING_SIZE;
}

static uint64_t stamp_at(const struct pmp_heap_ring *ring, uint64_t position)
{
	const uint64_t *stamp =
		(const uint64_t *)(const void *)at_position(ring, position);

	return __atomic_load_n(stamp, __ATOMIC_ACQUIRE);
}

/* Skip everything that is there now, as it is invalid. */
static void give_up(struct pmp_heap_ring *ring, uint64_t head)
{
	head &= ~(uint64_t)(PMP_HEAP_ALIGN - 1);
	ring->unwanted += head > ring->tail ? head - ring->tail : PMP_HEAP_ALIGN;
	move_tail(ring, head);
}

/* Skip to the next position with a record that states this position. Returns the number of
 * positions that were checked. */
static size_t skip(struct pmp_heap_ring *ring, uint64_t head)
{
	const uint64_t before = ring->tail;
	uint64_t position = before + PMP_HEAP_ALIGN;

	while (position < head && (stamp_at(ring, position) & ~(uint64_t)3) != position)
		position += PMP_HEAP_ALIGN;
	ring->unwanted += position - before;
	move_tail(ring, position);
	return (position - before) / PMP_HEAP_ALIGN;
}

/* Has the record at tail been waited for long enough? */
static bool is_overdue(struct pmp_heap_ring *ring, uint64_t now)
{
	if (!ring->waiting)
		ring->waiting = now;
	if (PMP_FAULT("heap-wait"))
		return false;
	return now - ring->waiting > PATIENCE || ring->tail < ring->given_up;
}

/* Without registers a stack would begin where they are. */
static uint64_t fixed_size(const struct pmp_heap_record *record)
{
	return record->has_regs ? sizeof(*record) : PMP_HEAP_RECORD_HEAD;
}

static bool is_valid(const struct pmp_heap_ring *ring,
		     const struct pmp_heap_record *record, uint64_t head)
{
	const uint64_t size = record->length;
	const uint64_t fixed = fixed_size(record);

	if (PMP_FAULT("heap-believe"))
		return size <= head - ring->tail;
	return size % PMP_HEAP_ALIGN == 0 && size >= fixed && size <= head - ring->tail &&
	       record->stack_size <= size - fixed &&
	       (record->kind < PMP_HEAP_KIND_COUNT ||
		record->kind == PMP_HEAP_RECORD_PAD) &&
	       record->function < PMP_HEAP_FUNCTION_COUNT &&
	       record->process < PMP_HEAP_PROCESSES && record->tid <= INT32_MAX;
}

/* Copy a complete record. False: it is invalid. */
static bool take(struct pmp_heap_ring *ring, uint64_t head, struct pmp_heap_entry *entry)
{
	const unsigned char *at = at_position(ring, ring->tail);

	memset(&entry->record, 0, sizeof(entry->record));
	memcpy(&entry->record, at, PMP_HEAP_RECORD_HEAD);
	if (!is_valid(ring, &entry->record, head))
		return false;
	if (entry->record.has_regs)
		memcpy(entry->record.regs, at + PMP_HEAP_RECORD_HEAD,
		       sizeof(entry->record.regs));
	entry->stack = at + fixed_size(&entry->record);
	return true;
}

bool pmp_heap_ring_next(struct pmp_heap_ring *ring, uint64_t now,
			struct pmp_heap_entry *entry)
{
	/* Limited, as the writers may move the head for ever. */
	for (size_t looks = 0; looks < LOOKS_MOST; looks++) {
		const uint64_t head = head_of(ring);

		if (head == ring->tail)
			return false;
		if (head - ring->tail > PMP_HEAP_RING_SIZE || head % PMP_HEAP_ALIGN) {
			give_up(ring, head);
			return false;
		}
		if (stamp_at(ring, ring->tail) == (ring->tail | PMP_HEAP_COMPLETE)) {
			if (!take(ring, head, entry)) {
				looks += skip(ring, head);
				continue;
			}
			if (entry->record.kind != PMP_HEAP_RECORD_PAD)
				return true;
			pmp_heap_ring_done(ring, entry);
		} else if (is_overdue(ring, now)) {
			looks += skip(ring, head);
		} else {
			return false;
		}
	}
	return false;
}

uint64_t pmp_heap_ring_written(const struct pmp_heap_ring *ring)
{
	return head_of(ring);
}

void pmp_heap_ring_done(struct pmp_heap_ring *ring, const struct pmp_heap_entry *entry)
{
	move_tail(ring, ring->tail + entry->record.length);
}
