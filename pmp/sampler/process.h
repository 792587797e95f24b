/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler's process. */
#ifndef PMP_SAMPLER_PROCESS_H
#define PMP_SAMPLER_PROCESS_H

#include "sampler/events.h"

/**
 * Sample until the run is over, in the child of the fork. sampling has options, page, fd,
 * past, waiting and exec_fd; the rest is zero.
 */
__attribute__((noreturn)) void process_run(struct sampling *sampling,
					   const struct sampler_targets *targets,
					   pid_t front);

/** As many open descriptors as the system allows. To be called when nothing will be
 * executed that would inherit it. */
void process_raise_limit(void);

#endif
