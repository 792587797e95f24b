/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A question about bytes that may have been made to harm who looks at them. */
#ifndef PMP_CONFINE_JUDGE_H
#define PMP_CONFINE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

/** What is() says of the bytes, in a process that can do nothing but compute; false if that
 * does not survive it. *missing: of enum confine_missing, what it could do for all that. */
bool confine_judge(bool (*is)(const void *data, size_t length), const void *data,
		   size_t length, unsigned *missing);

#endif
