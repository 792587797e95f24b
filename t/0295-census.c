/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading heaps that are made here, word by word, as each version of glibc's malloc lays them
 * out; that are swapped out in part, change while they are read, or are damaged.
 */
#include "lib/fakeheap.h"
#include "lib/tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "census/live-memory.h"

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

/* A top of half a terabyte, of which no page is there, and a chunk that leads into it. */
static void test_endless(void)
{
	const uint64_t end = HEAP_END + (UINT64_C(1) << 39);
	struct pmp_census *census;

	make_heap(&caches[3]);
	asked = 0;
	set(*word_at(ARENA) + 8, (end - *word_at(ARENA)) | 1);
	set(HEAP + caches[3].size + 100 * OBJECT_SIZE + 8, 0x123451);
	census = take(PMP_CENSUS_TAKEN);
	ok(census && census->totals.unread > (UINT64_C(1) << 38),
	   "what is missing of half a terabyte");
	ok(asked < 8 * memory.effort / PMP_EFFORT_PAGE,
	   "it is not all looked for: %zu pages", asked);
	pmp_census_free(census);
}

/* ---- memory that is claimed, and not there ------------------------------------------------- */

static void take_of(struct pmp_maps *maps, enum pmp_census_outcome wanted, size_t most)
{
	struct pmp_census *census = NULL;

	add_usual(maps);
	make_heap(&caches[3]);
	asked = rested = 0;
	is_int(pmp_census_take(&memory, maps, false, &census), wanted, "the outcome");
	ok(asked < most, "not all of it is looked for: %zu pages", asked);
	ok(rested > 5, "nor without a rest: %zu", rested);
	pmp_census_free(census);
	pmp_maps_unref(maps);
}

/* Where heaps of threads may be: 64 TiB, a million of them. */
static void test_claimed_heaps(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	const uint64_t start = UINT64_C(1) << 40;

	add_region(maps, "[anon]", PMP_MODULE_ANON, start, start + (UINT64_C(1) << 46));
	take_of(maps, PMP_CENSUS_TAKEN, 800000);
}

/* After the data of files, in which the main arena may be: 16 GB, four million pages. */
static void test_claimed_data(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	const uint64_t piece = UINT64_C(16) << 20;

	for (uint64_t at = piece; at < 1000 * 2 * piece; at += 2 * piece) {
		add_region(maps, "/lib/libc.so.6", PMP_MODULE_FILE, at, at + PAGE);
		add_region(maps, "[anon]", PMP_MODULE_ANON, at + PAGE, at + piece);
	}
	take_of(maps, PMP_CENSUS_UNKNOWN, 100000);
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
			abort();
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
		abort();
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
	test_endless();
	test_claimed_heaps();
	test_claimed_data();
	test_pagemap();
	return done_testing();
}
