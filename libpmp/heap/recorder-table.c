/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks were sampled: first a filter with one byte for many addresses, for every
 * call of free(); then tables of addresses, in buckets of one cache line each. If a bucket
 * is full, the next, larger table is used. As a block has one owner at a time, no other
 * thread adds or removes the same address meanwhile.
 */
#include "heap/recorder.h"

#define BUCKET 8 /* addresses */
#define BUCKETS (1u << 13)
#define LEVELS 3
#define GROWTH 2 /* bits: each level has four times as many buckets */

struct bucket {
	const void *blocks[BUCKET] __attribute__((aligned(64)));
};

unsigned char filter[FILTER_SIZE];

/* Untouched pages take no memory: 0.5, 2, 8 MiB. */
static struct bucket level_0[BUCKETS], level_1[BUCKETS << GROWTH],
	level_2[BUCKETS << (2 * GROWTH)];
static struct bucket *const levels[LEVELS] = { level_0, level_1, level_2 };
static size_t counts[LEVELS];

static struct bucket *bucket_of(const void *block, unsigned level)
{
	const uint64_t hash = ((uintptr_t)block >> 4) * UINT64_C(0xd6e8feb86659fd93);

	return &levels[level][(hash >> 32) & ((BUCKETS << (level * GROWTH)) - 1)];
}

static void filter_change(const void *block, int by)
{
	unsigned char *counter = &filter[filter_index(block)], was = *counter, is;

	if (RECORDER_FAULT(FILTER) && by > 0)
		return;
	do {
		is = was == FILTER_SATURATED || (by < 0 && !was)
			     ? was
			     : (unsigned char)(was + by);
	} while (!__atomic_compare_exchange_n(counter, &was, is, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

static bool replace(struct bucket *bucket, const void *from, const void *to)
{
	for (int i = 0; i < BUCKET; i++) {
		const void *expected = from;

		if (__atomic_load_n(&bucket->blocks[i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&bucket->blocks[i], &expected, to, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool table_add(const void *block)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		if (!replace(bucket_of(block, level), NULL, block))
			continue;
		__atomic_fetch_add(&counts[level], 1, __ATOMIC_RELAXED);
		filter_change(block, 1);
		return true;
	}
	return false;
}

bool table_remove(const void *block)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		if (!__atomic_load_n(&counts[level], __ATOMIC_RELAXED) ||
		    !replace(bucket_of(block, level), block, NULL))
			continue;
		__atomic_fetch_sub(&counts[level], 1, __ATOMIC_RELAXED);
		filter_change(block, -1);
		return true;
	}
	return false;
}

/* In exact mode every address passes the filter. */
void table_clear(void)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		for (size_t i = 0; counts[level] && i < BUCKETS << (level * GROWTH); i++)
			for (int k = 0; k < BUCKET; k++)
				levels[level][i].blocks[k] = NULL;
		counts[level] = 0;
	}
	for (size_t i = 0; i < FILTER_SIZE; i++)
		filter[i] = recorder.exact ? FILTER_SATURATED : 0;
	filter_begin();
}
