/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the frame pointer is above the stack pointer, by pc. A thread that is peeked
 * at where it sleeps shows its pc and sp only; where a frame is found by its frame
 * pointer, what another thread has shown at the same pc helps on: of threads that
 * wait, hundreds wait at the same few places.
 *
 * The distance is fixed in nearly every function, as its frame has a fixed size. In one
 * that moves the stack pointer by a register (alloca, arrays of variable length,
 * alignment) it is not; nothing is learned there, and a pc with two distances is never
 * believed again.
 */
#ifndef PMP_CAPTURE_FP_CACHE_H
#define PMP_CAPTURE_FP_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct pmp_fp_cache;

struct pmp_fp_cache *pmp_fp_cache_new(void); /* NULL: no memory */
void pmp_fp_cache_free(struct pmp_fp_cache *cache);
/* Other code may be at these addresses. */
void pmp_fp_cache_flush(struct pmp_fp_cache *cache);

enum pmp_fp_known { PMP_FP_UNKNOWN, PMP_FP_DISTANCE, PMP_FP_NEVER };

/* What is known of this pc; *distance only for PMP_FP_DISTANCE. */
enum pmp_fp_known pmp_fp_cache_get(const struct pmp_fp_cache *cache, uint64_t pc,
				   uint64_t *distance);
/* Seen at pc. A second, different distance: never again. */
void pmp_fp_cache_put(struct pmp_fp_cache *cache, uint64_t pc, uint64_t distance);
/* Never believe in a distance at this pc. */
void pmp_fp_cache_forbid(struct pmp_fp_cache *cache, uint64_t pc);

#endif
