/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of a profile in an order that does not depend on when they came. */
#ifndef PMP_WRITE_ORDER_H
#define PMP_WRITE_ORDER_H

#include <stdbool.h>

#include "tally/profile.h"

/*
 * The most frequent first; equal ones by process, thread and stack. *entries has
 * pmp_profile_entry_count() pointers and is to be freed. 0 or PMP_ENOMEM.
 */
int pmp_order_entries(const struct pmp_profile *profile,
		      const struct pmp_entry ***entries);
/* The same, thread by thread: of each process the threads in the order of their ids. */
int pmp_order_threads(const struct pmp_profile *profile,
		      const struct pmp_entry ***entries);
/* Do both belong to one thread of one process? */
bool pmp_order_same_thread(const struct pmp_entry *a, const struct pmp_entry *b);

#endif
