/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading heaps that are made here, word by word, as each version of glibc's malloc lays them
 * out; that are swapped out in part, change while they are read, or are damaged.
 */
#include "lib/tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "census/live-memory.h"
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
#define INFO_SIZE 48 /* before the state of its arena */
#define WORDS (PAGE / 8)
#define OBJECTS 300
#define OBJECT_SIZE 96 /* of its chunk */
#define KEY UINT64_C(0x1122334455667788)

/* Four areas of memory. */
static uint64_t library[2 * WORDS], heap[HEAP_PAGES * WORDS], large[3 * WORDS],
	thread_heap[THREAD_PAGES * WORDS];
static uint8_t heap_pages[HEAP_PAGES];
static size_t touched; /* pages that are not there */
/* A word of the heap that is something else when it is read for the first times. */
static uint64_t changing, changed_to;
static unsigned changes;

static void give_up(const char *why)
{
	diag("%s", why);
	exit(99);
}

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
	for (size_t i = 0; i < count; i++)
		pages[i] = page_at(address + i * PAGE);
	return true;
}

static void nothing(void *arg)
{
	(void)arg;
}

static void not_again(void *arg, unsigned times)
{
	(void)arg;
	(void)times;
}

static const struct pmp_census_memory memory = { fake_read, fake_pages, nothing,
						 not_again, NULL };

static void add_region(struct pmp_maps *maps, const char *path, enum pmp_module_kind kind,
		       uint64_t start, uint64_t end)
{
	static uint32_t id;
	struct pmp_region region = { .start = start, .end = end };

	region.module = pmp_module_new(id++, kind, path);
	region.prot = PMP_PROT_READ | PMP_PROT_WRITE;
	if (!region.module || pmp_maps_add_module(maps, region.module) ||
	    pmp_maps_add_region(maps, &region))
		give_up("no memory");
}

static struct pmp_maps *make_maps(void)
{
	struct pmp_maps *maps = pmp_maps_new();

	add_region(maps, "[heap]", PMP_MODULE_SPECIAL, HEAP, HEAP_END);
	add_region(maps, "/lib/libc.so.6", PMP_MODULE_FILE, LIBRARY,
		   LIBRARY + sizeof(library));
	add_region(maps, "[anon]", PMP_MODULE_ANON, LARGE, LARGE + sizeof(large));
	add_region(maps, "[anon]", PMP_MODULE_ANON, THREAD, THREAD_END);
	return maps;
}

/* ---- a heap --------------------------------------------------------------------------- */

/* A cache of a thread: where its heads are. */
struct cache {
	const char *name;
	uint64_t size, heads;
	enum pmp_census_caches kind;
	bool recent; /* no fastbins; mapped blocks have the layout of others */
};

static uint64_t next; /* where the next chunk comes */

static uint64_t add_chunk(uint64_t size, bool previous_used)
{
	const uint64_t at = next;

	set(at + 8, size | previous_used);
	next += size;
	return at;
}

/* Free chunks are on no list here: nothing looks at these. */
static void make_arena(uint64_t arena, uint64_t top)
{
	set(arena, top);
	for (uint64_t i = 0; i < 127; i++) {
		set(arena + 16 + 16 * i, arena + 16 * i);
		set(arena + 24 + 16 * i, arena + 16 * i);
	}
}

/* Of a thread: the state of its arena, two objects and its top. */
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

/* Three of the objects are in the cache; what marks them depends on its kind. */
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

/* Two more are in a fastbin. hidden: as since 2.32. */
static void fill_fastbin(const uint64_t *objects, bool hidden)
{
	const uint64_t link = objects[21];

	set(ARENA - 80 + 8 * ((OBJECT_SIZE - 32) / 16), objects[20]);
	set(objects[20] + 16, hidden ? link ^ (objects[20] + 16) >> 12 : link);
	set(objects[21] + 16, hidden ? (objects[21] + 16) >> 12 : 0);
}

/* A cache, objects with a class, one free chunk, the top; and a large block. */
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

static struct pmp_census *take(enum pmp_census_outcome wanted)
{
	struct pmp_maps *maps = make_maps();
	struct pmp_census *census = NULL;

	is_int(pmp_census_take(&memory, maps, true, &census), wanted, "the outcome");
	is_int((long long)touched, 0, "no page is touched that is not there");
	pmp_maps_unref(maps);
	return census;
}

static uint64_t blocks_of(const struct pmp_census *census, uint64_t word, uint64_t size)
{
	for (size_t i = 0; census && i < census->row_count; i++)
		if (census->rows[i].word == word && census->rows[i].size == size)
			return census->rows[i].blocks;
	return 0;
}

static void is_whole(const struct pmp_census *census, const struct cache *cache)
{
	static const struct pmp_census_totals none;
	const struct pmp_census_totals *totals = census ? &census->totals : &none;
	const bool recent = cache && cache->recent;
	const uint64_t cached = cache ? 3 : 0, fast = recent ? 0 : 2,
		       large_bytes = LARGE_SIZE - (recent ? 24 : 16);

	is_int((long long)blocks_of(census, TABLE, OBJECT_SIZE - 8),
	       (long long)(OBJECTS - fast - cached + 2),
	       "objects of the class, in both heaps");
	is_int((long long)totals->cached.blocks, (long long)cached, "cached ones");
	is_int((long long)totals->fast.blocks, (long long)fast, "those in a fastbin");
	is_int((long long)totals->free.bytes, 4096 - 8, "the free one");
	is_int((long long)totals->mapped.bytes, (long long)large_bytes, "the large one");
	is_int((long long)blocks_of(census, TABLE, large_bytes), 1, "and its class");
	is_int((long long)blocks_of(census, 0, 56), 1, "one without a class");
	is_int((long long)(totals->unread + totals->swapped), 0, "all of it was read");
}

/* ---- the layouts ----------------------------------------------------------------------- */

static const struct cache caches[] = {
	{ "2.26: lists", 0x250, 64, PMP_CACHES_LISTS, false },
	{ "2.29: the cache's address", 0x250, 64, PMP_CACHES_OWN, false },
	{ "2.30: larger counts", 0x290, 128, PMP_CACHES_OWN, false },
	{ "2.34: a random key", 0x290, 128, PMP_CACHES_KEY, false },
	{ "2.42: more lists", 0x300, 152, PMP_CACHES_KEY, false },
	{ "2.43: no fastbins", 0x300, 152, PMP_CACHES_KEY, true },
};

static void test_layouts(void)
{
	struct pmp_census *census;

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		diag("glibc %s", caches[i].name);
		make_heap(&caches[i]);
		census = take(PMP_CENSUS_TAKEN);
		is_whole(census, &caches[i]);
		is_int(census ? (int)census->totals.caches : -1, (int)caches[i].kind,
		       "the kind of caches");
		pmp_census_free(census);
	}
	diag("glibc 2.3: no caches");
	make_heap(NULL);
	census = take(PMP_CENSUS_TAKEN);
	is_whole(census, NULL);
	pmp_census_free(census);
}

/* Of 2.42: a cache that has nothing but a large block. */
static void test_large_list(void)
{
	struct pmp_census *census;

	make_heap(&caches[4]);
	set(HEAP + 16 + caches[4].heads + 8 * ((OBJECT_SIZE - 32) / 16), 0);
	set(HEAP + 16 + caches[4].heads + 8 * (64 + 2),
	    HEAP + 0x300 + OBJECTS * OBJECT_SIZE + 16);
	set(HEAP + 0x300 + OBJECTS * OBJECT_SIZE + 24, KEY);
	/* The free chunk is one that looks as if it were in use. */
	set(HEAP + 0x300 + OBJECTS * OBJECT_SIZE + 4096 + 8, 64 | 1);
	census = take(PMP_CENSUS_TAKEN);
	is_int(census ? (long long)census->totals.cached.blocks : -1, 4,
	       "a list of large blocks has the key");
	pmp_census_free(census);
}

static void test_unknown(void)
{
	struct pmp_census *census;

	make_heap(NULL);
	set(ARENA + 16 + 16 * 60, 0x1235);
	census = take(PMP_CENSUS_UNKNOWN);
	ok(!census, "no arena: nothing is made up");
	make_heap(NULL);
	for (size_t i = 0; i < sizeof(heap) / sizeof(*heap); i++)
		heap[i] = i * 0x9e3779b97f4a7c15;
	memset(thread_heap, 0, sizeof(thread_heap));
	census = take(PMP_CENSUS_UNKNOWN);
	ok(!census, "no chunks: nothing is made up");
}

/* ---- what is not there, and what changes --------------------------------------------------- */

static void test_swapped(void)
{
	struct pmp_census *census;
	uint64_t objects;

	make_heap(&caches[3]);
	heap_pages[2] = PMP_PAGE_SWAPPED;
	heap_pages[3] = PMP_PAGE_ABSENT;
	census = take(PMP_CENSUS_TAKEN);
	objects = blocks_of(census, TABLE, OBJECT_SIZE - 8);
	ok(objects > OBJECTS - 5 - 2 * PAGE / OBJECT_SIZE - 4 &&
		   objects < OBJECTS - 5 - 2 * PAGE / OBJECT_SIZE + 4,
	   "objects in pages that are not there are not counted: %" PRIu64, objects);
	ok(census && census->totals.swapped > PAGE / 2 &&
		   census->totals.swapped <= PAGE + OBJECT_SIZE,
	   "what is swapped out is said");
	ok(census && census->totals.unread > PAGE / 2, "and what is missing otherwise");
	is_int(census ? (long long)census->totals.free.bytes : -1, 4096 - 8,
	       "what comes after that is counted");
	pmp_census_free(census);
}

static void test_changing(void)
{
	struct pmp_census *census;

	make_heap(NULL);
	changing = HEAP + 100 * OBJECT_SIZE + 8;
	changed_to = 0x123450;
	changes = 3;
	census = take(PMP_CENSUS_TAKEN);
	is_whole(census, NULL);
	ok(census && census->totals.again, "it was read again");
	pmp_census_free(census);

	make_heap(&caches[3]);
	changing = HEAP + caches[3].size + 100 * OBJECT_SIZE + 8;
	changed_to = 0x123450;
	changes = 1000;
	census = take(PMP_CENSUS_TAKEN);
	is_int((long long)blocks_of(census, TABLE, OBJECT_SIZE - 8), OBJECTS - 5 - 1 + 2,
	       "damage costs a block");
	is_int(census ? (long long)census->totals.unread : -1, OBJECT_SIZE,
	       "and is said");
	pmp_census_free(census);
}

/* ---- pagemap ------------------------------------------------------------------------------- */

/* A file with the entries of that many pages from 0 on. */
static int fake_pagemap(size_t count)
{
	int fd = memfd_create("pagemap", MFD_CLOEXEC);

	for (size_t i = 0; i < count; i++) {
		const uint64_t entry = i % 3 == 0   ? UINT64_C(1) << 63
				       : i % 3 == 1 ? UINT64_C(1) << 62
						    : 0;

		if (pwrite(fd, &entry, sizeof(entry), (off_t)(i * sizeof(entry))) !=
		    sizeof(entry))
			give_up("cannot write a file in memory");
	}
	return fd;
}

static void test_pagemap(void)
{
	struct pmp_live_memory live = {
		.mem = memfd_create("mem", MFD_CLOEXEC),
		.pagemap = fake_pagemap(2000),
		.page_size = PAGE,
		.first = UINT64_MAX,
	};
	const struct pmp_census_memory lives = pmp_live_memory_use(&live);
	size_t wrong = 0, readable = 0;
	uint8_t pages[2048];
	uint64_t word;

	ok(lives.pages(lives.arg, 0, 2048, pages), "pages are asked for");
	for (size_t i = 0; i < 2048; i++) {
		const uint8_t want = i >= 2000	  ? PMP_PAGE_ABSENT
				     : i % 3 == 0 ? PMP_PAGE_PRESENT
				     : i % 3 == 1 ? PMP_PAGE_SWAPPED
						  : PMP_PAGE_ABSENT;

		wrong += pages[i] != want;
	}
	is_int((long long)wrong, 0, "present, swapped out, or never there");
	if (ftruncate(live.mem, (off_t)2000 * PAGE))
		give_up("cannot make a file in memory");
	for (size_t i = 0; i < 2000; i++)
		readable += pmp_census_peek(&lives, i * PAGE + 8, &word, sizeof(word));
	is_int((long long)readable, 667, "only pages that are present are read");
	ok(!pmp_census_peek(&lives, 3 * PAGE - 8, pages, 16),
	   "nor what lies in one that is not");
	pmp_live_memory_close(&live);
	close(live.mem);
}

int main(void)
{
	test_layouts();
	test_large_list();
	test_unknown();
	test_swapped();
	test_changing();
	test_pagemap();
	return done_testing();
}
