/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter at work on the stacks of a report. What it says of a function is kept, by
 * location and by name. The stacks that come out of it consist of locations with
 * numbers of their own, 0, 1, 2, ...: such a location is one of the symbolizer's with
 * those of its functions that are left, renamed. So writers need not know of filters.
 */
#ifndef PMP_REPORT_FILTER_STACK_H
#define PMP_REPORT_FILTER_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "sample.h"

struct pmp_filter_stack;

/* What is known of a stack, innermost first, and what is left of it. */
struct pmp_filtered_stack {
	const pmp_location *locations;
	size_t count;
	char state;
	const char *syscall;
	/* Filled in; borrowed until the next stack. */
	const pmp_location *left;
	const uint32_t *origins; /* of each, which of locations it was */
	size_t left_count;
	bool trimmed; /* its root is not where it was */
};

/* Both are borrowed. NULL: no memory. */
struct pmp_filter_stack *pmp_filter_stack_new(const struct pmp_filter *filter,
					      struct pmp_symbolizer *symbolizer);
void pmp_filter_stack_free(struct pmp_filter_stack *stacks);
const struct pmp_filter *pmp_filter_stack_filter(const struct pmp_filter_stack *stacks);
/* 1: it is shown, 0: it is not, PMP_ENOMEM. Looks names up, which may be slow. */
int pmp_filter_stack_take(struct pmp_filter_stack *stacks,
			  struct pmp_filtered_stack *stack);

/* As pmp_symbolizer_frames() and pmp_symbolizer_first_address(), of a location that is left. */
size_t pmp_filter_stack_frames(const struct pmp_filter_stack *stacks,
			       pmp_location location, const struct pmp_frame **frames);
void pmp_filter_stack_origin(const struct pmp_filter_stack *stacks, pmp_location location,
			     struct pmp_first_address *origin);

#endif
