/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in the environment for the recorder, and for which programs it stays there. */
#ifndef PMP_HEAP_RECORDER_EXEC_H
#define PMP_HEAP_RECORDER_EXEC_H

#include <stdbool.h>

/* The descriptor of the shared memory that PMP_HEAP names, or -1. */
int exec_read_environment(char **environment);
/* Whether it stays open in programs that are executed. */
void exec_keep_memory(bool keeps);
/* What a child of this thread has left. */
void exec_end_thread(void);

#endif
