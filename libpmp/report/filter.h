/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The internal side of filters; the rest is in libpmp.h. */
#ifndef PMP_REPORT_FILTER_H
#define PMP_REPORT_FILTER_H

#include "libpmp-program.h"

/* Never NULL. */
const struct pmp_filter_options *pmp_filter_options(const struct pmp_filter *filter);
/* Are threads counted by the names of their groups? */
bool pmp_filter_has_groups(const struct pmp_filter *filter);
/* Fill buffer with what the filter calls a wait in this function; false: no match. */
bool pmp_filter_lock_meaning(const struct pmp_filter *filter, const char *function,
			     char *buffer, size_t size);
/* Do the function names say that a thread asleep in this system call ("": unknown) waits
 * for a lock? */
bool pmp_filter_waits_for_lock(pmp_marks stack, const char *syscall);
/* Did matching a function fail? */
bool pmp_filter_has_failed(pmp_marks marks);
/* Are threads with this name and these ids shown? */
bool pmp_filter_passes_thread(const struct pmp_filter *filter, const char *name,
			      pid_t pid, pid_t tid);
/* Fill buffer with the filter's name for a thread; false: the name is unchanged. */
bool pmp_filter_call_thread(const struct pmp_filter *filter, const char *name,
			    char *buffer, size_t size);

#endif
