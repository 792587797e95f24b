/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the frame pointer is above the stack pointer, by pc. A thread that is looked
 * at where it sleeps shows its pc and sp only; where a frame is found by its frame
 * pointer, what another thread has shown at the same pc helps on: of threads that
 * wait, hundreds wait at the same few places.
 *
 * The distance is fixed in nearly every function, as its frame has a fixed size. In one
 * that moves the stack pointer by a register (alloca, arrays of variable length,
 * alignment) it is not; nothing is learned there, and a pc with two distances is never
 * believed again.
 */
#ifndef PMP_CAPTURE_LEARN_H
#define PMP_CAPTURE_LEARN_H

#include <stdbool.h>
#include <stdint.h>

struct pmp_learned;

struct pmp_learned *pmp_learned_new(void);	/* NULL: no memory */
void pmp_learned_free(struct pmp_learned *learned);
/* Other code may be at these addresses. */
void pmp_learned_flush(struct pmp_learned *learned);

enum pmp_learned_state { PMP_LEARNED_NOTHING, PMP_LEARNED_DISTANCE, PMP_LEARNED_NEVER };

/* What is known of this pc; *distance only for PMP_LEARNED_DISTANCE. */
enum pmp_learned_state pmp_learned_get(const struct pmp_learned *learned, uint64_t pc,
				       uint64_t *distance);
/* Seen at pc. A second, different distance: never again. */
void pmp_learned_put(struct pmp_learned *learned, uint64_t pc, uint64_t distance);
/* Never believe in a distance at this pc. */
void pmp_learned_forbid(struct pmp_learned *learned, uint64_t pc);

#endif
