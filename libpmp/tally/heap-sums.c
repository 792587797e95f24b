/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/heap-sums.h"

#include <string.h>

#include "base/clock.h"

/* 1 - exp(-x) without libm: x is halved until the series is exact enough, and the result is
 * scaled up from there: 1 - exp(-2x) = p * (2 - p). */
#define SMALL (1.0 / 128)
#define SIZE_MOST ((UINT64_C(1) << 62) - 1) /* programs may ask for any size */
#define CERTAIN 40.0			    /* 1 - exp(-40) is 1 in double precision */

double pmp_heap_chance(uint64_t size, uint64_t rate)
{
	double x = (double)(size ? size : 1) / (double)rate, p;
	int doublings = 0;

	if (!rate || x > CERTAIN)
		return 1;
	for (; x > SMALL; x /= 2)
		doublings++;
	p = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
	for (; doublings; doublings--)
		p *= 2 - p;
	return p;
}

double pmp_heap_variance(uint64_t size, double weight)
{
	const double bytes = (double)(size ? size : 1);

	return bytes * bytes * weight * (weight - 1);
}

double pmp_square_root(double square)
{
	double root = square > 1 ? square : 1;

	if (!(square > 0))
		return 0;
	/* Newton's method, from above: each step decreases until rounding stops it. */
	for (double next = (root + square / root) / 2; next < root;
	     next = (root + square / root) / 2)
		root = next;
	return root;
}

uint64_t pmp_blocks_of(uint64_t parts)
{
	return parts / PMP_BLOCK_PARTS + (parts % PMP_BLOCK_PARTS >= PMP_BLOCK_PARTS / 2);
}

static uint64_t rounded(double value)
{
	return value < (double)(INT64_MAX / 2) ? (uint64_t)(value + 0.5) : INT64_MAX / 2;
}

static void add(uint64_t *sum, uint64_t more)
{
	*sum = more > INT64_MAX - *sum ? INT64_MAX : *sum + more;
}

void pmp_heap_sums_allocated(struct pmp_heap_sums *sums, uint64_t size, double weight)
{
	add(&sums->alloc_parts, rounded(weight * (double)PMP_BLOCK_PARTS));
	add(&sums->alloc_bytes, rounded(weight * (double)size));
	add(&sums->alloc_found, 1);
	sums->alloc_variance += pmp_heap_variance(size, weight);
}

static const uint64_t age_starts[PMP_AGES] = {
	0, PMP_S, 10 * PMP_S, 60 * PMP_S, 600 * PMP_S, 3600 * PMP_S,
};

size_t pmp_heap_age(uint64_t age)
{
	size_t i = PMP_AGES - 1;

	while (age < age_starts[i])
		i--;
	return i;
}

uint64_t pmp_heap_age_start(size_t i)
{
	return i < PMP_AGES ? age_starts[i] : UINT64_MAX;
}

void pmp_heap_sums_lives(struct pmp_heap_sums *sums, uint64_t size, double weight,
			 uint64_t age)
{
	struct pmp_age_sum *of = &sums->ages[pmp_heap_age(age)];
	const uint64_t parts = rounded(weight * (double)PMP_BLOCK_PARTS);
	const uint64_t bytes = rounded(weight * (double)size);
	const double variance = pmp_heap_variance(size, weight);

	add(&sums->live_parts, parts);
	add(&sums->live_bytes, bytes);
	add(&sums->live_found, 1);
	sums->live_variance += variance;
	add(&of->parts, parts);
	add(&of->bytes, bytes);
	of->variance += variance;
	if (age > of->oldest)
		of->oldest = age;
	if (age > sums->oldest)
		sums->oldest = age;
}

void pmp_heap_sums_failed(struct pmp_heap_sums *sums, uint64_t size)
{
	if (size > SIZE_MOST)
		size = SIZE_MOST;
	add(&sums->failures, 1);
	if (size > sums->largest_failure)
		sums->largest_failure = size;
}

void pmp_heap_sums_add(struct pmp_heap_sums *sums, const struct pmp_heap_sums *more)
{
	add(&sums->alloc_parts, more->alloc_parts);
	add(&sums->alloc_bytes, more->alloc_bytes);
	add(&sums->live_parts, more->live_parts);
	add(&sums->live_bytes, more->live_bytes);
	add(&sums->alloc_found, more->alloc_found);
	add(&sums->live_found, more->live_found);
	add(&sums->growths, more->growths);
	add(&sums->growth_bytes, more->growth_bytes);
	add(&sums->failures, more->failures);
	if (more->largest_failure > sums->largest_failure)
		sums->largest_failure = more->largest_failure;
	add(&sums->survived, more->survived);
	pmp_heap_counts_add(&sums->then, &more->then);
	sums->alloc_variance += more->alloc_variance;
	sums->live_variance += more->live_variance;
	if (more->oldest > sums->oldest)
		sums->oldest = more->oldest;
	for (size_t i = 0; i < PMP_AGES; i++) {
		add(&sums->ages[i].parts, more->ages[i].parts);
		add(&sums->ages[i].bytes, more->ages[i].bytes);
		sums->ages[i].variance += more->ages[i].variance;
		if (more->ages[i].oldest > sums->ages[i].oldest)
			sums->ages[i].oldest = more->ages[i].oldest;
	}
}

struct pmp_heap_counts pmp_heap_counts_of(const struct pmp_heap_sums *sums)
{
	return (struct pmp_heap_counts){ sums->alloc_parts, sums->alloc_bytes,
					 sums->live_parts,  sums->live_bytes,
					 sums->growths,	    sums->growth_bytes };
}

void pmp_heap_counts_add(struct pmp_heap_counts *counts,
			 const struct pmp_heap_counts *more)
{
	add(&counts->alloc_parts, more->alloc_parts);
	add(&counts->alloc_bytes, more->alloc_bytes);
	add(&counts->live_parts, more->live_parts);
	add(&counts->live_bytes, more->live_bytes);
	add(&counts->growths, more->growths);
	add(&counts->growth_bytes, more->growth_bytes);
}

/* Both are at most INT64_MAX. */
int64_t pmp_heap_change(uint64_t now, uint64_t then)
{
	return (int64_t)(now - then);
}

int64_t pmp_blocks_change(uint64_t now, uint64_t then)
{
	return now >= then ? (int64_t)pmp_blocks_of(now - then)
			   : -(int64_t)pmp_blocks_of(then - now);
}

void pmp_heap_sums_clear_live(struct pmp_heap_sums *sums)
{
	sums->live_parts = sums->live_bytes = sums->live_found = 0;
	sums->survived = sums->oldest = 0;
	sums->live_variance = 0;
	memset(sums->ages, 0, sizeof(sums->ages));
}

static uint64_t more_than(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

uint64_t pmp_heap_sums_value(const struct pmp_heap_sums *sums, enum pmp_heap_value value)
{
	const struct pmp_heap_counts *then = &sums->then;

	switch (value) {
	case PMP_HEAP_ALLOC_OBJECTS:
		return pmp_blocks_of(more_than(sums->alloc_parts, then->alloc_parts));
	case PMP_HEAP_ALLOC_SPACE: return more_than(sums->alloc_bytes, then->alloc_bytes);
	case PMP_HEAP_INUSE_OBJECTS:
		return pmp_blocks_of(more_than(sums->live_parts, then->live_parts));
	case PMP_HEAP_INUSE_SPACE:
	default: return more_than(sums->live_bytes, then->live_bytes);
	}
}

static const char *const names[PMP_HEAP_VALUES] = { "alloc_objects", "alloc_space",
						    "inuse_objects", "inuse_space" };

const char *pmp_heap_value_name(enum pmp_heap_value value)
{
	return value < PMP_HEAP_VALUES ? names[value] : NULL;
}

const char *pmp_heap_value_unit(enum pmp_heap_value value)
{
	return value == PMP_HEAP_ALLOC_OBJECTS || value == PMP_HEAP_INUSE_OBJECTS
		       ? "count"
		       : "bytes";
}

bool pmp_heap_value_find(const char *name, enum pmp_heap_value *value)
{
	for (size_t i = 0; i < PMP_HEAP_VALUES; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*value = (enum pmp_heap_value)i;
		return true;
	}
	return false;
}
