/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: arbitrary bytes in the memory that a recorder shares with its reader: the
 * ends of the ring, an entry of a process, and the contents of the ring.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heap-batch.h"
#include "heap/shared.h"
#include "libpmp-program.h"

#define READS 4

struct fuzzed {
	uint64_t head, tail;
	uint32_t slots_used, state;
	uint32_t allocator, process_of_slot;
};

static struct pmp_target *no_target(void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return NULL;
}

/* Touch everything, so that sanitizers see invalid memory. */
static void take(void *arg, const struct pmp_heap_batch *batch)
{
	uint64_t *sum = arg;

	*sum += strlen(batch->name) + strlen(batch->totals.allocator_name);
	for (size_t i = 0; i < batch->event_count; i++) {
		const struct pmp_heap_event *event = &batch->events[i];

		if (event->kind >= PMP_HEAP_KIND_COUNT ||
		    event->function >= PMP_HEAP_FUNCTION_COUNT ||
		    event->thread >= batch->thread_count || event->frame_count)
			abort();
		*sum += event->usable + strlen(batch->threads[event->thread].name);
	}
}

static void fill(struct pmp_heap_shared *shared, const uint8_t *data, size_t size)
{
	struct fuzzed fuzzed;

	memcpy(&fuzzed, data, sizeof(fuzzed));
	data += sizeof(fuzzed);
	size -= sizeof(fuzzed);
	shared->header->head = fuzzed.head;
	shared->header->tail = fuzzed.tail;
	shared->header->slots_used = fuzzed.slots_used;
	shared->processes[0].state = fuzzed.state;
	shared->processes[0].allocator = fuzzed.allocator;
	shared->slots[0].process = fuzzed.process_of_slot;
	memset(shared->processes[0].allocator_name, 'a', PMP_HEAP_NAME);
	memcpy(shared->ring, data, size < PMP_HEAP_RING_SIZE ? size : PMP_HEAP_RING_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pmp_recorder_options options = { .size = sizeof(options),
						      .rate = 65536,
						      .max_stack = 4096 };
	uint64_t sum = 0;
	const struct pmp_recorder_calls calls = { .target = no_target,
						  .take = take,
						  .arg = &sum };
	struct pmp_recorder *recorder;
	struct pmp_heap_shared shared;
	int memory, file;

	if (size < sizeof(struct fuzzed))
		return 0;
	if (pmp_recorder_new(&options, &recorder, NULL) < 0)
		abort();
	pmp_recorder_descriptors(recorder, &memory, &file);
	if (pmp_heap_shared_open(memory, &shared, NULL) < 0)
		abort();
	fill(&shared, data, size);
	for (int i = 0; i < READS && pmp_recorder_read(recorder, &calls, true, NULL) > 0;
	     i++)
		;
	pmp_heap_shared_close(&shared);
	pmp_recorder_free(recorder);
	return 0;
}

/* ---- seeds: whole records -------------------------------------------------------------- */

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	struct fuzzed fuzzed = { .slots_used = 1,
				 .state = n & 1 ? PMP_HEAP_PROCESS_RECORDS
						: PMP_HEAP_PROCESS_COUNTS,
				 .allocator = n,
				 .process_of_slot = 1 };
	size_t length = sizeof(fuzzed);

	if (n >= PMP_HEAP_KIND_COUNT)
		return 0;
	for (unsigned i = 0; i < 3; i++) {
		struct pmp_heap_record record = {
			.stamp = fuzzed.head | PMP_HEAP_COMPLETE,
			.length = 256,
			.tid = i + 1,
			.kind = i == 1 ? PMP_HEAP_RECORD_PAD : (uint8_t)n,
			.has_regs = 1,
			.stack_size = 64,
		};

		if (length + record.length > size)
			return 0;
		memset(data + length, 0, record.length);
		memcpy(data + length, &record, sizeof(record));
		length += record.length;
		fuzzed.head += record.length;
	}
	memcpy(data, &fuzzed, sizeof(fuzzed));
	return length;
}
