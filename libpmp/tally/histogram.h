/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A distribution of times in memory of fixed size. Buckets are exact below 16 ns; above,
 * each power of two has 16, so a percentile is off by at most 1/16 of its value.
 */
#ifndef PMP_TALLY_HISTOGRAM_H
#define PMP_TALLY_HISTOGRAM_H

#include <stdint.h>

#define PMP_HISTOGRAM_BITS 4
#define PMP_HISTOGRAM_STEPS (1u << PMP_HISTOGRAM_BITS)
#define PMP_HISTOGRAM_BUCKETS ((64 - PMP_HISTOGRAM_BITS + 1) * PMP_HISTOGRAM_STEPS)

/* Zero it. */
struct pmp_histogram {
	uint64_t counts[PMP_HISTOGRAM_BUCKETS];
	uint64_t total, largest;
};

void pmp_histogram_add(struct pmp_histogram *histogram, uint64_t value);
/* The value that `percent` of all values do not exceed; 0 if there are none. */
uint64_t pmp_histogram_percentile(const struct pmp_histogram *histogram,
				  unsigned percent);
/* The number of values in the buckets below that of this value. */
uint64_t pmp_histogram_within(const struct pmp_histogram *histogram, uint64_t value);

#endif
