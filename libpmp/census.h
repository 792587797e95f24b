/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the heap of a process holds: its blocks by size and by what their first word points
 * to. Read from outside, at approximately one moment, while the process runs. Like the
 * sample that it is part of, it has addresses only: which class has its vtable there is
 * looked up when it is written. Bounds have been checked, but sizes and counts are what
 * the process's memory says.
 */
#ifndef PMP_CENSUS_H
#define PMP_CENSUS_H

#include <stddef.h>
#include <stdint.h>

/* Blocks of one size, with one first word. */
struct pmp_census_row {
	uint64_t word; /* an address in the data of a module, or 0 */
	uint64_t size; /* usable bytes of each; 0: several sizes */
	uint64_t blocks;
	uint64_t bytes; /* usable */
};

struct pmp_census_part {
	uint64_t blocks, bytes; /* usable */
};

/* How blocks in thread caches (tcache) are distinguished from live ones. */
enum pmp_census_caches {
	PMP_CACHES_NONE,  /* no caches, or none was found */
	PMP_CACHES_LISTS, /* glibc 2.26 to 2.28: by walking the lists */
	PMP_CACHES_OWN,	  /* 2.29 to 2.33: they contain the address of the cache */
	PMP_CACHES_KEY,	  /* since 2.34: they contain a random number */
	PMP_CACHES_COUNT
};

struct pmp_census_totals {
	struct pmp_census_part live;   /* the sum of the rows */
	struct pmp_census_part mapped; /* of these, in mappings of their own */
	struct pmp_census_part cached; /* freed, but kept in thread caches */
	struct pmp_census_part fast;   /* freed, but kept in fastbins */
	struct pmp_census_part free;
	uint64_t top;		/* unused bytes at the ends of heaps */
	uint64_t arenas, heaps; /* heaps: regions that blocks are cut from */
	uint64_t size;		/* bytes of these regions and of mapped blocks */
	uint64_t swapped;	/* bytes of these that were swapped out, and not read */
	uint64_t unread; /* bytes in which no blocks could be found for other reasons */
	uint64_t again;	 /* how often a part was read again because it had changed */
	uint64_t other;	 /* bytes of anonymous memory that is not the allocator's */
	uint64_t cpu;	 /* CPU time that the census took, ns */
	uint32_t caches; /* enum pmp_census_caches */
	uint32_t typed;	 /* first words were looked at */
	uint32_t glibc;	 /* minor number of its version, if known to be later than ... */
	uint32_t unused;
};

#define PMP_CENSUS_GLIBC_KNOWN 43 /* ... the last one whose layout is known */

struct pmp_census {
	struct pmp_census_totals totals;
	struct pmp_census_row *rows; /* each size and word once, in no order */
	size_t row_count;
};

/* The limit of distinct rows: beyond it blocks are counted by word or by size alone. */
#define PMP_CENSUS_ROWS_MAX 65536

/* Returns a copy; NULL: no memory. */
struct pmp_census *pmp_census_copy(const struct pmp_census_totals *totals,
				   const struct pmp_census_row *rows, size_t count);
void pmp_census_free(struct pmp_census *census); /* takes NULL */

#endif
