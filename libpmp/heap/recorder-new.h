/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operators new and delete of C++. */
#ifndef PMP_HEAP_RECORDER_NEW_H
#define PMP_HEAP_RECORDER_NEW_H

/* Find out, by calling each operator once, which of them end in malloc() and free(), where
 * their memory is counted. Those of libstdc++ do; an allocator's own may not. */
void new_try(void);
/* Add the operators to the functions of the process entry. */
void new_describe(void);

#endif
