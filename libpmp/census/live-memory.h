/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a live process through /proc/PID/mem and /proc/PID/pagemap. */
#ifndef PMP_CENSUS_LIVE_MEMORY_H
#define PMP_CENSUS_LIVE_MEMORY_H

#include "census/memory.h"
#include "libpmp.h"
#include "proc/process.h"

#define PMP_LIVE_PAGES 512 /* of pagemap that are cached */

struct pmp_live_memory {
	int mem;     /* borrowed */
	int pagemap; /* -1: not open */
	uint64_t page_size;
	/* The part of pagemap that was read last. */
	uint64_t first; /* page number, in units of PMP_CENSUS_PAGE; UINT64_MAX: none */
	uint8_t kept[PMP_LIVE_PAGES];
	/* Limits of its cost. */
	unsigned max_cpu; /* percent of a processor; 0: no limit */
	uint64_t start, start_cpu;
	void (*alive)(void *arg);
	void *alive_arg;
};

/* Open it; 0, or an error with err filled. To be closed with pmp_live_memory_close(). */
int pmp_live_memory_open(const struct pmp_process *process, struct pmp_live_memory *live,
			 struct pmp_error *err);
void pmp_live_memory_close(struct pmp_live_memory *live);
/* The memory for a census; live is borrowed. */
struct pmp_census_memory pmp_live_memory_use(struct pmp_live_memory *live);

#endif
