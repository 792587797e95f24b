/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stack-table.h. Keys and names are interned in two tables. */
#include "tally/stack-table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The words of a key before the locations. */
struct stack_key {
	uint32_t pid, tid;
	uint32_t process, thread, reason; /* in names, as are syscall and wchan */
	uint32_t end;
	uint32_t state, syscall, wchan; /* with details, else 0 and "" */
	uint32_t lock;			/* waits: number of the lock + 1; else 0 */
};

#define KEY_WORDS (sizeof(struct stack_key) / sizeof(uint32_t))

#define BLOCK 256

struct pmp_waits_block {
	struct pmp_waits_block *next;
	struct pmp_entry_waits items[BLOCK];
};

struct pmp_heap_block {
	struct pmp_heap_block *next;
	struct pmp_heap_sums items[BLOCK];
};

bool pmp_entries_init(struct pmp_entries *entries, bool by_thread, bool details,
		      bool waits)
{
	*entries = (struct pmp_entries){ .by_thread = by_thread, .details = details };
	entries->names = pmp_intern_new();
	entries->keys = pmp_intern_new();
	if (waits)
		entries->locks = pmp_locks_new();
	return entries->names && entries->keys && (!waits || entries->locks);
}

void pmp_entries_free(struct pmp_entries *entries)
{
	free(entries->key);
	free(entries->all);
	pmp_intern_free(entries->keys);
	pmp_intern_free(entries->names);
	pmp_locks_free(entries->locks);
	while (entries->waits_blocks) {
		struct pmp_waits_block *next = entries->waits_blocks->next;

		free(entries->waits_blocks);
		entries->waits_blocks = next;
	}
	while (entries->heap_blocks) {
		struct pmp_heap_block *next = entries->heap_blocks->next;

		free(entries->heap_blocks);
		entries->heap_blocks = next;
	}
	*entries = (struct pmp_entries){ 0 };
}

uint64_t pmp_entries_size(const struct pmp_entries *entries)
{
	return pmp_intern_size(entries->keys) + pmp_intern_size(entries->names) +
	       entries->capacity * sizeof(*entries->all) +
	       (entries->locks ? pmp_locks_size(entries->locks) : 0) +
	       entries->waits_capacity * sizeof(struct pmp_entry_waits) +
	       entries->heap_capacity * sizeof(struct pmp_heap_sums);
}

static uint32_t intern_name(struct pmp_entries *entries, const char *name)
{
	return pmp_intern(entries->names, name, strlen(name));
}

/* The number of the lock that an entry's threads waited for, plus 1; 0: none, or locks are
 * not kept; UINT32_MAX: out of memory. */
static uint32_t lock_of(struct pmp_entries *entries, const struct pmp_entry *entry)
{
	uint32_t number;

	if (!entries->locks || !entry->waits || !entry->waits->lock)
		return 0;
	number = pmp_locks_add(entries->locks, entry->waits->lock);
	return number == PMP_LOCK_NONE ? UINT32_MAX : number + 1;
}

/* Write the entry's key to entries->key. Returns the number of words; 0: out of memory. */
static size_t make_key(struct pmp_entries *entries, const struct pmp_entry *entry)
{
	bool details = entries->details;
	bool apart = entries->by_thread || details;
	size_t words = KEY_WORDS + entry->location_count;
	struct stack_key key = {
		.pid = entry->pid,
		.tid = apart ? entry->tid : 0,
		.process = intern_name(entries, entry->process),
		.thread = intern_name(entries, apart ? entry->thread : ""),
		.reason = intern_name(entries, entry->reason),
		.end = entry->end,
		.state = details ? (unsigned char)entry->state : 0,
		.syscall = intern_name(entries, details ? entry->syscall : ""),
		.wchan = intern_name(entries, details ? entry->wchan : ""),
		.lock = lock_of(entries, entry),
	};

	if (key.process == PMP_INTERN_NONE || key.thread == PMP_INTERN_NONE ||
	    key.reason == PMP_INTERN_NONE || key.syscall == PMP_INTERN_NONE ||
	    key.wchan == PMP_INTERN_NONE || key.lock == UINT32_MAX ||
	    PMP_RESERVE(&entries->key, &entries->key_capacity, words))
		return 0;
	memcpy(entries->key, &key, sizeof(key));
	if (entry->location_count)
		memcpy(entries->key + KEY_WORDS, entry->locations,
		       entry->location_count * sizeof(*entry->locations));
	return words;
}

static void fill_entry(const struct pmp_entries *entries, uint32_t id,
		       struct pmp_entry *entry)
{
	size_t length;
	const uint32_t *words = pmp_intern_data(entries->keys, id, &length);
	struct stack_key key;

	memcpy(&key, words, sizeof(key));
	*entry = (struct pmp_entry){
		.pid = key.pid,
		.process = pmp_intern_data(entries->names, key.process, NULL),
		.tid = key.tid,
		.thread = pmp_intern_data(entries->names, key.thread, NULL),
		.syscall = pmp_intern_data(entries->names, key.syscall, NULL),
		.wchan = pmp_intern_data(entries->names, key.wchan, NULL),
		.end = key.end,
		.reason = pmp_intern_data(entries->names, key.reason, NULL),
		.locations = words + KEY_WORDS,
		.location_count = length / sizeof(*words) - KEY_WORDS,
	};
	if (entries->heaps) {
		entry->heap = &entries->heap_blocks->items[id % BLOCK];
		*entry->heap = (struct pmp_heap_sums){ 0 };
	}
	if (!entries->locks)
		return;
	entry->waits = &entries->waits_blocks->items[id % BLOCK];
	*entry->waits = (struct pmp_entry_waits){ 0 };
	if (key.lock)
		entry->waits->lock = pmp_locks_get(entries->locks, key.lock - 1);
}

static void add_waits(struct pmp_entry_waits *counted,
		      const struct pmp_entry_waits *waits)
{
	counted->contentions = pmp_count_sum(counted->contentions, waits->contentions);
	counted->held_contentions =
		pmp_count_sum(counted->held_contentions, waits->held_contentions);
	counted->held_delay = pmp_count_sum(counted->held_delay, waits->held_delay);
}

void pmp_entry_add(struct pmp_entry *counted, const struct pmp_entry *entry)
{
	counted->count = pmp_count_sum(counted->count, entry->count);
	counted->running = pmp_count_sum(counted->running, entry->running);
	counted->cpu = pmp_count_sum(counted->cpu, entry->cpu);
	counted->settled_cpu = pmp_count_sum(counted->settled_cpu, entry->cpu);
	counted->wall = pmp_count_sum(counted->wall, entry->wall);
	counted->state = entry->state;
	if (counted->waits && entry->waits)
		add_waits(counted->waits, entry->waits);
	if (counted->heap && entry->heap)
		pmp_heap_sums_add(counted->heap, entry->heap);
}

void pmp_entry_add_find(struct pmp_entry *counted, const struct pmp_entry_find *find)
{
	counted->count = pmp_count_sum(counted->count, 1);
	counted->running = pmp_count_sum(counted->running, find->running);
	counted->wall = pmp_count_sum(counted->wall, find->wall);
	counted->state = find->state;
	if (counted->waits && find->waits)
		add_waits(counted->waits, find->waits);
}

void pmp_entry_add_still(struct pmp_entry *counted, uint32_t threads, uint64_t wall)
{
	counted->count = pmp_count_sum(counted->count, threads);
	counted->wall = pmp_count_sum(
		counted->wall, wall > UINT64_MAX / threads ? UINT64_MAX : wall * threads);
}

static int reserve_heap(struct pmp_entries *entries)
{
	struct pmp_heap_block *block;

	if (!entries->heaps || entries->count < entries->heap_capacity)
		return 0;
	block = malloc(sizeof(*block));
	if (!block)
		return PMP_ENOMEM;
	block->next = entries->heap_blocks;
	entries->heap_blocks = block;
	entries->heap_capacity += BLOCK;
	return 0;
}

/* Reserve room for one more entry. 0 or PMP_ENOMEM. */
static int reserve_entry(struct pmp_entries *entries)
{
	struct pmp_waits_block *block;

	if (PMP_RESERVE(&entries->all, &entries->capacity, entries->count + 1) ||
	    reserve_heap(entries))
		return PMP_ENOMEM;
	if (!entries->locks || entries->count < entries->waits_capacity)
		return 0;
	block = malloc(sizeof(*block));
	if (!block)
		return PMP_ENOMEM;
	block->next = entries->waits_blocks;
	entries->waits_blocks = block;
	entries->waits_capacity += BLOCK;
	return 0;
}

/* Add an entry with the current key of so many words. */
static uint32_t new_entry(struct pmp_entries *entries, size_t words,
			  const struct pmp_entry *entry)
{
	uint32_t id;

	/* Reserve room first, as an interned key cannot be removed again. */
	if (reserve_entry(entries))
		return PMP_ENTRY_NONE;
	id = pmp_intern(entries->keys, entries->key, words * sizeof(*entries->key));
	if (id == PMP_INTERN_NONE)
		return PMP_ENTRY_NONE;
	fill_entry(entries, id, &entries->all[entries->count++]);
	entries->between_count += entry->end == PMP_END_BETWEEN;
	return id;
}

uint32_t pmp_entries_count(struct pmp_entries *entries, const struct pmp_entry *entry)
{
	size_t words = make_key(entries, entry);
	uint32_t id;

	if (!words)
		return PMP_ENTRY_NONE;
	id = pmp_intern_find(entries->keys, entries->key, words * sizeof(*entries->key));
	if (id == PMP_INTERN_NONE)
		id = new_entry(entries, words, entry);
	if (id != PMP_ENTRY_NONE)
		pmp_entry_add(&entries->all[id], entry);
	return id;
}
