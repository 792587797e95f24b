/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of threads as names of their group. */
#ifndef PMP_TALLY_GROUP_H
#define PMP_TALLY_GROUP_H

#include <stddef.h>

/* conn-17 is conn-N: each run of digits becomes N. size is at least 1; returns buffer. */
char *pmp_group_fold(const char *name, char *buffer, size_t size);

#endif
