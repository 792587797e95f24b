/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a heap with arbitrary words. The first byte selects the version, the second
 * is how often a changing word changes; the rest are words.
 */
#include "../lib/fakeheap.h"
#include "fuzz.h"

#define WORD_SIZE 12  /* in the input: which word, and its value */
#define RELATIVE 0x07 /* base address of its value */
#define CHANGES 0x40  /* it changes while it is read */
#define SHORT 0x80    /* it is a small number */
#define PAGES_AREA 4  /* after the other areas: whether a page is present */

struct fuzz_word {
	uint8_t area, flags;
	uint16_t where;
	uint64_t value;
};

static void put(const struct fuzz_word *word, uint8_t times)
{
	static const uint64_t starts[] = { LIBRARY, HEAP, LARGE, THREAD };
	static const size_t sizes[] = { sizeof(library), sizeof(heap), sizeof(large),
					sizeof(thread_heap) };
	static const uint64_t bases[] = { 0,	  LIBRARY, HEAP,  LARGE,
					  THREAD, ARENA,   TABLE, HEAP_END };
	const size_t area = word->area % (PAGES_AREA + 1);
	uint64_t value = word->value + bases[word->flags & RELATIVE], address;

	if (area == PAGES_AREA) {
		heap_pages[word->where % HEAP_PAGES] = (uint8_t)(value % 3);
		return;
	}
	if (word->flags & SHORT)
		value = (uint16_t)value;
	address = starts[area] + (8 * (uint64_t)word->where) % sizes[area];
	if (word->flags & CHANGES) {
		changing = address;
		changed_to = value;
		changes = times;
	} else {
		set(address, value);
	}
}

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	if (n > sizeof(caches) / sizeof(*caches) || size < 2)
		return 0;
	data[0] = (uint8_t)n;
	data[1] = 1;
	return 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t kinds = sizeof(caches) / sizeof(*caches) + 1;
	struct pmp_census *census = NULL;
	struct pmp_maps *maps;

	if (size < 2)
		return 0;
	make_heap(data[0] % kinds < kinds - 1 ? &caches[data[0] % kinds] : NULL);
	for (size_t at = 2; at + WORD_SIZE <= size; at += WORD_SIZE) {
		struct fuzz_word word = { .area = data[at], .flags = data[at + 1] };

		memcpy(&word.where, data + at + 2, sizeof(word.where));
		memcpy(&word.value, data + at + 4, sizeof(word.value));
		put(&word, data[1]);
	}
	maps = make_maps();
	if (pmp_census_take(&memory, maps, data[1] & 1, &census) == PMP_CENSUS_TAKEN &&
	    census->row_count > PMP_CENSUS_ROWS_MAX)
		__builtin_trap();
	if (touched)
		__builtin_trap();
	pmp_census_free(census);
	pmp_maps_unref(maps);
	return 0;
}
