/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times in buckets; used for how long threads were stopped. */
#include "tally/histogram.h"

#include <stddef.h>

static size_t bucket_of(uint64_t value)
{
	unsigned shift;

	if (value < PMP_HISTOGRAM_STEPS)
		return value;
	shift = 63 - PMP_HISTOGRAM_BITS - __builtin_clzll(value);
	return (shift + 1) * PMP_HISTOGRAM_STEPS +
	       ((value >> shift) & (PMP_HISTOGRAM_STEPS - 1));
}

/* The largest value that falls into a bucket. */
static uint64_t bucket_top(size_t bucket)
{
	unsigned shift;
	uint64_t step;

	if (bucket < PMP_HISTOGRAM_STEPS)
		return bucket;
	shift = bucket / PMP_HISTOGRAM_STEPS - 1;
	step = PMP_HISTOGRAM_STEPS + bucket % PMP_HISTOGRAM_STEPS;
	return (step << shift) + ((UINT64_C(1) << shift) - 1);
}

void pmp_histogram_add(struct pmp_histogram *histogram, uint64_t value)
{
	histogram->counts[bucket_of(value)]++;
	histogram->total++;
	if (value > histogram->largest)
		histogram->largest = value;
}

uint64_t pmp_histogram_within(const struct pmp_histogram *histogram, uint64_t value)
{
	uint64_t count = 0;

	for (size_t i = 0; i < PMP_HISTOGRAM_BUCKETS && bucket_top(i) <= value; i++)
		count += histogram->counts[i];
	return count;
}

uint64_t pmp_histogram_percentile(const struct pmp_histogram *histogram, unsigned percent)
{
	uint64_t rank = histogram->total - histogram->total * (100 - percent) / 100;
	uint64_t below = 0;

	if (!histogram->total)
		return 0;
	for (size_t i = 0; i < PMP_HISTOGRAM_BUCKETS; i++) {
		below += histogram->counts[i];
		if (below >= rank) {
			uint64_t top = bucket_top(i);

			return top < histogram->largest ? top : histogram->largest;
		}
	}
	return histogram->largest;
}
