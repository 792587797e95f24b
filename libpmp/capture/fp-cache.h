/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the frame pointer is above the stack pointer, by pc. A peek at a sleeping thread
 * reads only pc and sp; where a frame needs its frame pointer, the distance seen in
 * another thread at the same pc is used: often hundreds of threads wait at the same few
 * places.
 *
 * The distance is constant in nearly every function, because its frame has a fixed size.
 * It is not in a function that moves the stack pointer by a register (alloca,
 * variable-length arrays, alignment); nothing is learned there, and a pc with two
 * distances is never trusted again.
 */
#ifndef PMP_CAPTURE_FP_CACHE_H
#define PMP_CAPTURE_FP_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct pmp_fp_cache;

struct pmp_fp_cache *pmp_fp_cache_new(void); /* NULL: no memory */
void pmp_fp_cache_free(struct pmp_fp_cache *cache);
/* Call it when other code may be at these addresses. */
void pmp_fp_cache_flush(struct pmp_fp_cache *cache);

enum pmp_fp_known { PMP_FP_UNKNOWN, PMP_FP_DISTANCE, PMP_FP_NEVER };

/* What is known about this pc; sets *distance only for PMP_FP_DISTANCE. */
enum pmp_fp_known pmp_fp_cache_get(const struct pmp_fp_cache *cache, uint64_t pc,
				   uint64_t *distance);
/* Record a distance seen at pc. A second, different one makes it PMP_FP_NEVER. */
void pmp_fp_cache_put(struct pmp_fp_cache *cache, uint64_t pc, uint64_t distance);
/* Never trust a distance at this pc. */
void pmp_fp_cache_forbid(struct pmp_fp_cache *cache, uint64_t pc);

#endif
