/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the objects are that threads of a sample wait for: in a module, in the heap, or on
 * the stack of one of the threads. */
#ifndef PMP_TALLY_LOCATE_H
#define PMP_TALLY_LOCATE_H

#include "resolve/symbolizer.h"
#include "sample.h"

#include <stddef.h>

struct pmp_stack_start;

/* Zero it. Keeps its memory from one sample to the next. */
struct pmp_locator {
	const struct pmp_sample *sample;
	struct pmp_symbolizer *symbolizer;
	struct pmp_stack_start *stacks; /* of its threads, ascending */
	size_t count, capacity;
};

/* Start a sample. It and the symbolizer are borrowed until the next one. 0 or
 * PMP_ENOMEM. */
int pmp_locator_start(struct pmp_locator *locator, const struct pmp_sample *sample,
		      struct pmp_symbolizer *symbolizer);
/* Find the object at an address in the sample's process. If it is not known, its location
 * is PMP_LOCATION_NONE. */
void pmp_locator_find(struct pmp_locator *locator, uint64_t address,
		      struct pmp_located_object *object);
void pmp_locator_free(struct pmp_locator *locator);

#endif
