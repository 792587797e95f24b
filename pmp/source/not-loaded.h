/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out why a command has not loaded the preloaded library. */
#ifndef PMP_SOURCE_NOT_LOADED_H
#define PMP_SOURCE_NOT_LOADED_H

#include <sys/types.h>

/** The reason in words that follow "it"; NULL: not known. name: the program that was
 * executed, for a process that has ended. */
const char *not_loaded_reason(pid_t pid, const char *name);

#endif
