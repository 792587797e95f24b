/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers a question about bytes that may have been made to attack their reader. */
#ifndef PMP_CONFINE_JUDGE_H
#define PMP_CONFINE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

/** Call is() with the bytes, in a process that can only compute; false if that process
 * dies. *missing: the rights that it could not drop, of enum confine_missing. */
bool confine_judge(bool (*is)(const void *data, size_t length), const void *data,
		   size_t length, unsigned *missing);

#endif
