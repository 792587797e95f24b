/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the census: heaps made word by word, with the
 * layout of each glibc version. */
#ifndef PMP_T_LIB_FAKEHEAP_H
#define PMP_T_LIB_FAKEHEAP_H

#include <stdlib.h>
#include <string.h>

#include "census/effort.h"
#include "census/memory.h"
#include "census/take.h"
#include "libpmp.h"

#define PAGE PMP_CENSUS_PAGE
#define LIBRARY UINT64_C(0x7f1000000000)
#define ARENA (LIBRARY + 512) /* its .top */
#define TABLE (LIBRARY + PAGE + 16)
#define HEAP UINT64_C(0x555500000000)
#define HEAP_PAGES 32
#define HEAP_END (HEAP + HEAP_PAGES * PAGE)
#define LARGE UINT64_C(0x7f2000001000)
#define LARGE_SIZE (3 * PAGE)
#define THREAD UINT64_C(0x7f3000000000) /* the heap of a thread */
#define THREAD_PAGES 2
#define THREAD_END (THREAD + THREAD_PAGES * PAGE)
#define INFO_SIZE 48 /* of the header before the state of its arena */
#define WORDS (PAGE / 8)
#define OBJECTS 300
#define OBJECT_SIZE 96 /* of an object's chunk */
#define KEY UINT64_C(0x1122334455667788)

/* Four areas of memory. */
static uint64_t library[2 * WORDS], heap[HEAP_PAGES * WORDS], large[3 * WORDS],
	thread_heap[THREAD_PAGES * WORDS];
static uint8_t heap_pages[HEAP_PAGES];
static size_t touched; /* absent pages that were read */
static size_t asked;   /* pages whose presence was asked for */
static size_t rested;
/* A word of the heap whose value differs the first few times it is read. */
static uint64_t changing, changed_to;
static unsigned changes;

static uint64_t *word_at(uint64_t address)
{
	if (address >= HEAP && address < HEAP_END)
		return &heap[(address - HEAP) / 8];
	if (address >= LARGE && address < LARGE + sizeof(large))
		return &large[(address - LARGE) / 8];
	if (address >= THREAD && address < THREAD_END)
		return &thread_heap[(address - THREAD) / 8];
	if (address >= LIBRARY && address < LIBRARY + sizeof(library))
		return &library[(address - LIBRARY) / 8];
	return NULL;
}

static void set(uint64_t address, uint64_t value)
{
	uint64_t *word = word_at(address);

	if (word)
		*word = value;
}

/* ---- as memory ------------------------------------------------------------------------ */

static uint8_t page_at(uint64_t address)
{
	if (address >= HEAP && address < HEAP_END)
		return heap_pages[(address - HEAP) / PAGE];
	return word_at(address) ? PMP_PAGE_PRESENT : PMP_PAGE_ABSENT;
}

static bool fake_read(void *arg, uint64_t address, void *data, size_t length)
{
	char *to = data;

	(void)arg;
	for (size_t i = 0; i < length; i += 8) {
		const uint64_t *word = word_at(address + i);
		const size_t some = length - i < 8 ? length - i : 8;

		touched += page_at(address + i) != PMP_PAGE_PRESENT;
		if (!word)
			return false;
		if (address + i == changing && changes) {
			changes--;
			word = &changed_to;
		}
		memcpy(to + i, word, some);
	}
	return true;
}

static bool fake_pages(void *arg, uint64_t address, size_t count, uint8_t *pages)
{
	(void)arg;
	asked += count;
	for (size_t i = 0; i < count; i++)
		pages[i] = page_at(address + i * PAGE);
	return true;
}

static void count_rest(void *arg)
{
	(void)arg;
	rested++;
}

static void not_again(void *arg, unsigned times)
{
	(void)arg;
	(void)times;
}

static const struct pmp_census_memory memory = {
	fake_read, fake_pages, count_rest, not_again, NULL, PMP_EFFORT_MAX / 8
};

static void add_region(struct pmp_maps *maps, const char *path, enum pmp_module_kind kind,
		       uint64_t start, uint64_t end)
{
	static uint32_t id;
	struct pmp_region region = { .start = start, .end = end };

	region.module = pmp_module_new(id++, kind, path);
	region.prot = PMP_PROT_READ | PMP_PROT_WRITE;
	if (!region.module || pmp_maps_add_module(maps, region.module) ||
	    pmp_maps_add_region(maps, &region))
		abort();
}

static void add_usual(struct pmp_maps *maps)
{
	add_region(maps, "[heap]", PMP_MODULE_SPECIAL, HEAP, HEAP_END);
	add_region(maps, "/lib/libc.so.6", PMP_MODULE_FILE, LIBRARY,
		   LIBRARY + sizeof(library));
	add_region(maps, "[anon]", PMP_MODULE_ANON, LARGE, LARGE + sizeof(large));
	add_region(maps, "[anon]", PMP_MODULE_ANON, THREAD, THREAD_END);
}

static struct pmp_maps *make_maps(void)
{
	struct pmp_maps *maps = pmp_maps_new();

	add_usual(maps);
	return maps;
}

/* ---- a heap --------------------------------------------------------------------------- */

/* A per-thread cache (tcache), and where its list heads are. */
struct cache {
	const char *name;
	uint64_t size, heads;
	enum pmp_census_caches kind;
	bool recent; /* no fastbins; mapped blocks have the usual layout */
};

static uint64_t next; /* address of the next chunk */

static uint64_t add_chunk(uint64_t size, bool previous_used)
{
	const uint64_t at = next;

	set(at + 8, size | previous_used);
	next += size;
	return at;
}

/* Free chunks are not linked into bins: nothing reads those. */
static void make_arena(uint64_t arena, uint64_t top)
{
	set(arena, top);
	for (uint64_t i = 0; i < 127; i++) {
		set(arena + 16 + 16 * i, arena + 16 * i);
		set(arena + 24 + 16 * i, arena + 16 * i);
	}
}

/* The heap of a thread: the state of its arena, two objects and the top. */
static void make_thread_heap(bool recent)
{
	const uint64_t state = THREAD + INFO_SIZE, arena = state + (recent ? 8 : 96),
		       chunks = arena + 8 * (2 + 2 * 127 + 2 + 5);

	memset(thread_heap, 0, sizeof(thread_heap));
	set(THREAD, state);
	set(THREAD + 16, sizeof(thread_heap));
	next = (chunks + 15) & ~UINT64_C(15);
	for (size_t i = 0; i < 2; i++)
		set(add_chunk(OBJECT_SIZE, true) + 16, TABLE);
	make_arena(arena, next);
	add_chunk(THREAD_END - next, true);
}

/* Put three of the objects into the cache; their mark depends on its kind. */
static void fill_cache(const struct cache *cache, uint64_t chunk, const uint64_t *objects)
{
	const uint64_t key = cache->kind == PMP_CACHES_OWN   ? chunk + 16
			     : cache->kind == PMP_CACHES_KEY ? KEY
							     : 0x4141414141414141;

	set(chunk + 16 + cache->heads + 8 * ((OBJECT_SIZE - 32) / 16), objects[10] + 16);
	for (size_t i = 10; i < 13; i++) {
		set(objects[i] + 16, i < 12 ? objects[i + 1] + 16 : 0);
		set(objects[i] + 24, key);
	}
}

/* Put two more into a fastbin. hidden: protected pointers, as since glibc 2.32. */
static void fill_fastbin(const uint64_t *objects, bool hidden)
{
	const uint64_t link = objects[21];

	set(ARENA - 80 + 8 * ((OBJECT_SIZE - 32) / 16), objects[20]);
	set(objects[20] + 16, hidden ? link ^ (objects[20] + 16) >> 12 : link);
	set(objects[21] + 16, hidden ? (objects[21] + 16) >> 12 : 0);
}

/* Make a cache, objects with a class, one free chunk, the top; and a large block. */
static void make_heap(const struct cache *cache)
{
	uint64_t objects[OBJECTS], chunk = 0;

	memset(heap, 0, sizeof(heap));
	memset(library, 0, sizeof(library));
	memset(heap_pages, PMP_PAGE_PRESENT, sizeof(heap_pages));
	touched = changes = 0;
	changing = 0;
	next = HEAP;
	if (cache)
		chunk = add_chunk(cache->size, true);
	for (size_t i = 0; i < OBJECTS; i++) {
		objects[i] = add_chunk(OBJECT_SIZE, true);
		set(objects[i] + 16, TABLE);
	}
	add_chunk(4096, true);
	set(next, 4096);
	set(add_chunk(64, false) + 16, 42);
	make_arena(ARENA, next);
	if (cache)
		fill_cache(cache, chunk, objects);
	if (!cache || !cache->recent)
		fill_fastbin(objects, !cache || cache->kind == PMP_CACHES_KEY);
	add_chunk(HEAP_END - next, true);
	set(LARGE, 0);
	set(LARGE + 8, (LARGE_SIZE - (cache && cache->recent ? 16 : 0)) | 2);
	set(LARGE + 16, TABLE);
	make_thread_heap(cache && cache->recent);
}

static const struct cache caches[] = {
	{ "2.26: lists", 0x250, 64, PMP_CACHES_LISTS, false },
	{ "2.29: the cache's address", 0x250, 64, PMP_CACHES_OWN, false },
	{ "2.30: larger counts", 0x290, 128, PMP_CACHES_OWN, false },
	{ "2.34: a random key", 0x290, 128, PMP_CACHES_KEY, false },
	{ "2.42: more lists", 0x300, 152, PMP_CACHES_KEY, false },
	{ "2.43: no fastbins", 0x300, 152, PMP_CACHES_KEY, true },
};

#endif
