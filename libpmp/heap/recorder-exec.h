/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's part of the environment, and which programs inherit it. */
#ifndef PMP_HEAP_RECORDER_EXEC_H
#define PMP_HEAP_RECORDER_EXEC_H

#include <stdbool.h>

/* The descriptor of the shared memory, from PMP_HEAP in the environment, or -1. */
int exec_read_environment(char **environment);
/* Should it stay open in programs that are executed? */
void exec_keep_memory(bool keeps);
/* This thread ends: free what a child of it may have left. */
void exec_end_thread(void);

#endif
