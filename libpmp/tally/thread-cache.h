/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry that each thread was counted in last. A thread that has not run since is
 * counted there again, and nothing of its stack is looked at.
 */
#ifndef PMP_TALLY_THREAD_CACHE_H
#define PMP_TALLY_THREAD_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"

struct pmp_thread_cache;

struct pmp_counted {
	uint32_t entry;
	uint32_t threads; /* that were counted in it */
};

/* waits: what it waits for must be the same as well. NULL: no memory. */
struct pmp_thread_cache *pmp_thread_cache_new(bool waits);
void pmp_thread_cache_free(struct pmp_thread_cache *cache);
/* The bytes that it takes. */
uint64_t pmp_thread_cache_size(const struct pmp_thread_cache *cache);

/* A sample of a process starts; its threads follow, in their order. 0 or PMP_ENOMEM. */
int pmp_thread_cache_begin(struct pmp_thread_cache *cache,
			   const struct pmp_sample *sample);
/* Is it of the same standstill as the process's last one? */
bool pmp_thread_cache_is_still(struct pmp_thread_cache *cache,
			       const struct pmp_sample *sample);
/* The entries that the threads of the process's last sample were counted in, each once. The
 * cache owns them, until it is next called. NULL: no memory. */
const struct pmp_counted *pmp_thread_cache_counted(struct pmp_thread_cache *cache,
						   pid_t pid, size_t *count);
/* Is this the stack that was put for the thread before? Then *entry is set. A stack
 * without a number is unlike any other. */
bool pmp_thread_cache_find(struct pmp_thread_cache *cache,
			   const struct pmp_thread *thread, uint32_t *entry);
/* After pmp_thread_cache_find(), with waits: is this the wait that the thread was in
 * before? It has not run since, and waited for the same. */
bool pmp_thread_cache_is_waiting(const struct pmp_thread_cache *cache,
				 const struct pmp_thread *thread);
/* A thread of the sample has been counted in entry. */
void pmp_thread_cache_put(struct pmp_thread_cache *cache, const struct pmp_thread *thread,
			  uint32_t entry);
/* Entry i is new[i] from now on. */
void pmp_thread_cache_renumber(struct pmp_thread_cache *cache, const uint32_t *new);
/* A process has ended. */
void pmp_thread_cache_forget(struct pmp_thread_cache *cache, pid_t pid);

#endif
