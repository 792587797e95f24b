/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry that each thread was last counted in. A thread that has not run since is
 * counted there again without looking at its stack.
 */
#ifndef PMP_TALLY_THREAD_CACHE_H
#define PMP_TALLY_THREAD_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"

struct pmp_thread_cache;

struct pmp_counted {
	uint32_t entry;
	uint32_t threads; /* number of threads counted in it */
};

/* waits: also require that a thread waits for the same. NULL: out of memory. */
struct pmp_thread_cache *pmp_thread_cache_new(bool waits);
void pmp_thread_cache_free(struct pmp_thread_cache *cache);
/* Memory used, in bytes. */
uint64_t pmp_thread_cache_size(const struct pmp_thread_cache *cache);

/* Start a sample of a process; its threads have to follow in order. 0 or PMP_ENOMEM. */
int pmp_thread_cache_begin(struct pmp_thread_cache *cache,
			   const struct pmp_sample *sample);
/* Does the sample belong to the same standstill as the process's last one? */
bool pmp_thread_cache_is_still(struct pmp_thread_cache *cache,
			       const struct pmp_sample *sample);
/* The entries that the threads of the process's last sample were counted in, each once.
 * Borrowed until the next call of the cache. NULL: out of memory. */
const struct pmp_counted *pmp_thread_cache_counted(struct pmp_thread_cache *cache,
						   pid_t pid, size_t *count);
/* Is this the stack that was put for the thread before? Then set *entry. A stack without a
 * reading number never matches. */
bool pmp_thread_cache_find(struct pmp_thread_cache *cache,
			   const struct pmp_thread *thread, uint32_t *entry);
/* With waits, after pmp_thread_cache_find(): is the thread still in the same wait? That is,
 * it has not run since and waited for the same. */
bool pmp_thread_cache_is_waiting(const struct pmp_thread_cache *cache,
				 const struct pmp_thread *thread);
/* A thread of the sample has been counted in entry. */
void pmp_thread_cache_put(struct pmp_thread_cache *cache, const struct pmp_thread *thread,
			  uint32_t entry);
/* Entry i becomes entry new[i]. */
void pmp_thread_cache_renumber(struct pmp_thread_cache *cache, const uint32_t *new);
/* A process has ended. */
void pmp_thread_cache_forget(struct pmp_thread_cache *cache, pid_t pid);

#endif
