/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A filter as the counting sees it; the rest of it is in libpmp.h. */
#ifndef PMP_REPORT_FILTER_H
#define PMP_REPORT_FILTER_H

#include "libpmp-program.h"

/* Never NULL. */
const struct pmp_filter_options *pmp_filter_options(const struct pmp_filter *filter);
/* Are threads counted by the names of their groups? */
bool pmp_filter_has_groups(const struct pmp_filter *filter);
/* What the filter calls a wait in a function, in buffer; false: nothing. */
bool pmp_filter_lock_meaning(const struct pmp_filter *filter, const char *function,
			     char *buffer, size_t size);
/* Does a thread that sleeps in that system call, or in "" an unknown one, wait for a lock, as
 * far as names of functions tell? */
bool pmp_filter_waits_for_lock(pmp_marks stack, const char *syscall);
/* Was there no memory to look at a function? */
bool pmp_filter_has_failed(pmp_marks marks);
/* Are threads with this name and these numbers shown? */
bool pmp_filter_passes_thread(const struct pmp_filter *filter, const char *name,
			      pid_t pid, pid_t tid);
/* A thread's name as the filter calls it; false: buffer has it as it is. */
bool pmp_filter_call_thread(const struct pmp_filter *filter, const char *name,
			    char *buffer, size_t size);

#endif
