/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler process. */
#ifndef PMP_SAMPLER_PROCESS_H
#define PMP_SAMPLER_PROCESS_H

#include "sampler/events.h"

/**
 * Sample until the run is over, in the forked child. The caller has set options, page, fd,
 * past, recorder, waiting, exec_fd and some of children in sampling; the rest is zero.
 */
__attribute__((noreturn)) void process_run(struct sampling *sampling,
					   const struct sampler_targets *targets,
					   pid_t front);

/** Raise the limit of open descriptors to the hard limit. Must not be called before an exec
 * of programs that should not inherit it. */
void process_raise_limit(void);

#endif
