/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a command has not loaded what was to be preloaded. */
#ifndef PMP_SOURCE_NOT_LOADED_H
#define PMP_SOURCE_NOT_LOADED_H

#include <sys/types.h>

/** The reason in words, as after "it". name: what was executed, if the process has ended. */
const char *not_loaded_reason(pid_t pid, const char *name);

#endif
