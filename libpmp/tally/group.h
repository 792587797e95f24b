/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of threads, by their names. */
#ifndef PMP_TALLY_GROUP_H
#define PMP_TALLY_GROUP_H

#include <stddef.h>

/* The group of a thread's name: each run of digits becomes N, conn-17 is in conn-N. size is
 * at least 1; returns buffer. */
char *pmp_group_fold(const char *name, char *buffer, size_t size);

#endif
