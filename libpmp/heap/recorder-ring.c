/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room in the ring. Threads reserve room by moving the head; each writes its record and
 * completes it. A record has its own position, so that one that was never written, as its
 * thread was killed, can be told from an older one in the same place.
 */
#include "heap/recorder-syscall.h"
#include "heap/recorder.h"

#define READER_GONE UINT64_C(3000000000) /* ns without a heartbeat */
#define WAIT_MOST UINT64_C(5000000000)	 /* ns that exact mode waits for room in total */
#define TURNS_MOST 1000000 /* in each wait, in case the clock stands still */
#define RELAX 100	   /* pause instructions in each turn */
#define READ_WAIT 1000000  /* ns, each, see ring_wait_to_be_read() */
#define READ_WAITS_MOST 100

uint64_t now_coarse(void)
{
	struct timespec now = { 0, 0 };

	if (next.clock_gettime)
		next.clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool ring_has_reader(uint64_t now)
{
	uint64_t beat = __atomic_load_n(&recorder.header->heartbeat, __ATOMIC_RELAXED);

	return beat + READER_GONE > now;
}

void ring_wait_to_be_read(void)
{
	static const uint32_t never;
	static uint64_t known; /* a shell may try all of PATH */
	const struct pmp_heap_header *header = recorder.header;
	const uint64_t head = __atomic_load_n(&header->head, __ATOMIC_RELAXED);
	uint64_t last = 0; /* heartbeat of the call in which everything was read */

	if (__atomic_exchange_n(&known, head, __ATOMIC_RELAXED) == head)
		return;
	for (unsigned i = 0; i < READ_WAITS_MOST && ring_has_reader(now_coarse()); i++) {
		/* In this order: a call that moves the tail has begun before that. */
		const bool all = __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE) >= head;
		const uint64_t beat =
			__atomic_load_n(&header->heartbeat, __ATOMIC_ACQUIRE);

		if (last && beat != last)
			return;
		if (all)
			last = beat;
		sys_wait_for(&never, READ_WAIT);
	}
}

/* Reserve room. False: there is none. */
static bool reserve(uint32_t length, uint64_t *position)
{
	struct pmp_heap_header *header = recorder.header;
	uint64_t head = __atomic_load_n(&header->head, __ATOMIC_RELAXED);

	do {
		uint64_t tail = __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE);

		if (head + length - tail > PMP_HEAP_RING_SIZE)
			return false;
	} while (!__atomic_compare_exchange_n(&header->head, &head, head + length, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*position = head;
	return true;
}

/* Pause for a few microseconds, so that the reader gets at the memory as well. */
static void relax(void)
{
	for (unsigned i = 0; i < RELAX; i++)
#ifdef __x86_64__
		__asm__ volatile("pause");
#else
		__asm__ volatile("yield");
#endif
}

/* In exact mode nothing shall be lost, so wait for room, for at most five seconds in the
 * life of the process. Without a system call, as a program may be killed for one that it
 * must not make. */
static bool reserve_in_time(uint32_t length, uint64_t *position)
{
	static uint64_t waited;
	const uint64_t before = __atomic_load_n(&waited, __ATOMIC_RELAXED);
	uint64_t begin, now;
	bool reserved = reserve(length, position);

	if (reserved || !recorder.exact || before >= WAIT_MOST)
		return reserved;
	begin = now = now_coarse();
	for (unsigned i = 0; !reserved && i < TURNS_MOST && ring_has_reader(now) &&
			     before + (now - begin) < WAIT_MOST;
	     i++) {
		relax();
		now = now_coarse();
		reserved = reserve(length, position);
	}
	__atomic_fetch_add(&waited, now - begin, __ATOMIC_RELAXED);
	return reserved;
}

void ring_lose(void)
{
	__atomic_fetch_add(&recorder.header->lost, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&recorder.process->lost, 1, __ATOMIC_RELAXED);
}

struct pmp_heap_record *ring_reserve(uint32_t length)
{
	struct pmp_heap_record *record;
	uint64_t position;

	if (!reserve_in_time(length, &position)) {
		ring_lose();
		return NULL;
	}
	record = (struct pmp_heap_record *)(void *)(recorder.ring +
						    position % PMP_HEAP_RING_SIZE);
	record->length = length;
	record->tid = thread.tid;
	record->process = recorder.index;
	record->has_regs = 0;
	record->other_stack = 0;
	record->stack_size = 0;
	__atomic_store_n(&record->stamp, position | PMP_HEAP_RESERVED, __ATOMIC_RELEASE);
	record->time = now_coarse();
	return record;
}

void ring_complete(struct pmp_heap_record *record)
{
	__atomic_store_n(&record->stamp,
			 (record->stamp & ~(uint64_t)PMP_HEAP_RESERVED) |
				 PMP_HEAP_COMPLETE,
			 __ATOMIC_RELEASE);
}
