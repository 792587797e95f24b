/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operators new and delete of C++. */
#ifndef PMP_HEAP_RECORDER_NEW_H
#define PMP_HEAP_RECORDER_NEW_H

/* Which of them call malloc() and free() in the end, so that their memory is counted there?
 * Those of libstdc++ do; an allocator's own may not. Each is called once. */
void new_try(void);
/* Add them to the functions of the entry. */
void new_describe(void);

#endif
