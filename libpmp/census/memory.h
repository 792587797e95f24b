/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of which a census is taken: a live process, or a test's arrays. What is not in
 * memory is not touched: to read a page that is swapped out would bring it in, and to read one
 * that was never there would make it.
 */
#ifndef PMP_CENSUS_MEMORY_H
#define PMP_CENSUS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_CENSUS_PAGE 4096u

enum pmp_census_page {
	PMP_PAGE_ABSENT,  /* it was never there */
	PMP_PAGE_PRESENT, /* it can be read without effect */
	PMP_PAGE_SWAPPED,
};

struct pmp_census_memory {
	/* Read length bytes, all or nothing, from pages that are present. */
	bool (*read)(void *arg, uint64_t address, void *data, size_t length);
	/* enum pmp_census_page of count pages from address on. False: not known. */
	bool (*pages)(void *arg, uint64_t address, size_t count, uint8_t *pages);
	/* Called between two slices: it may take its time. */
	void (*rest)(void *arg);
	/* Something is read again, after that many times: what is remembered may have changed;
	 * and a thread that has no processor in the midst of a change needs time. */
	void (*again)(void *arg, unsigned times);
	void *arg;
	/* See census/effort.h. */
	uint64_t effort;
};

/* Read what may lie in two pages, or in none that is present: then false. */
bool pmp_census_peek(const struct pmp_census_memory *memory, uint64_t address, void *data,
		     size_t length);

#endif
