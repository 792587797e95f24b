/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies a filter to the stacks of a report. What the filter says of a function is
 * cached, by location and by name. Filtered stacks consist of locations with their own
 * numbers, 0, 1, 2, ...: each is one of the symbolizer's locations with only the
 * functions that remain, renamed. So writers need not know about filters.
 */
#ifndef PMP_REPORT_FILTER_STACK_H
#define PMP_REPORT_FILTER_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "sample.h"

struct pmp_filter_stack;

/* A stack, innermost first, and what the filter leaves of it. */
struct pmp_filtered_stack {
	const pmp_location *locations;
	size_t count;
	char state;
	const char *syscall;
	/* Filled in; valid until the next stack. */
	const pmp_location *left;
	const uint32_t *origins; /* for each of left, its index in locations */
	size_t left_count;
	bool trimmed; /* cut off at the root end */
};

/* Both arguments are borrowed. NULL: no memory. */
struct pmp_filter_stack *pmp_filter_stack_new(const struct pmp_filter *filter,
					      struct pmp_symbolizer *symbolizer);
void pmp_filter_stack_free(struct pmp_filter_stack *stacks);
const struct pmp_filter *pmp_filter_stack_filter(const struct pmp_filter_stack *stacks);
/* 1: shown, 0: not shown, or PMP_ENOMEM. Looks up names, which may be slow. */
int pmp_filter_stack_take(struct pmp_filter_stack *stacks,
			  struct pmp_filtered_stack *stack);

/* Like pmp_symbolizer_frames() and pmp_symbolizer_first_address(), for their locations. */
size_t pmp_filter_stack_frames(const struct pmp_filter_stack *stacks,
			       pmp_location location, const struct pmp_frame **frames);
void pmp_filter_stack_origin(const struct pmp_filter_stack *stacks, pmp_location location,
			     struct pmp_first_address *origin);

#endif
