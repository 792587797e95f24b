/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of which a census is taken: a live process, or a test's arrays. Only present
 * pages are read: reading a swapped-out page would bring it in, and reading one that never
 * existed would create it.
 */
#ifndef PMP_CENSUS_MEMORY_H
#define PMP_CENSUS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_CENSUS_PAGE 4096u

enum pmp_census_page {
	PMP_PAGE_ABSENT,  /* it never existed */
	PMP_PAGE_PRESENT, /* it can be read without side effects */
	PMP_PAGE_SWAPPED,
};

struct pmp_census_memory {
	/* Read length bytes, all or nothing, from pages that are present. */
	bool (*read)(void *arg, uint64_t address, void *data, size_t length);
	/* Set enum pmp_census_page of count pages from address on. False: unknown. */
	bool (*pages)(void *arg, uint64_t address, size_t count, uint8_t *pages);
	/* Called between two slices; it may sleep. */
	void (*rest)(void *arg);
	/* Called before something is reread, for the times-th time: cached state may be
	 * outdated, and a thread preempted in the middle of a change needs time to finish
	 * it. */
	void (*again)(void *arg, unsigned times);
	void *arg;
	/* See census/effort.h. */
	uint64_t effort;
};

/* Read what may span two pages. False: not all are present. */
bool pmp_census_peek(const struct pmp_census_memory *memory, uint64_t address, void *data,
		     size_t length);

#endif
