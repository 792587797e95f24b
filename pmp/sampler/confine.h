/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confine the sampler. It may trace, and read /proc. A target that takes control of it by
 * the contents of its memory can do no more: not start a program or a process, use the
 * network, write into the memory of others or gain rights.
 */
#ifndef PMP_SAMPLER_CONFINE_H
#define PMP_SAMPLER_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/** Install the filter of system calls. From then on nothing can be written, except debug
 * messages to standard error. False: see confine_calls(). */
bool confine_sampler_calls(bool debugs);
/** The capabilities (bits) that sampling needs, with substitutes for those that this
 * process lacks; kernel: also to read kernel stacks. */
uint64_t confine_sampler_kept(bool kernel);
/** Drop all other capabilities. Must be called before confine_sampler_calls(). False: it
 * has kept others. */
bool confine_sampler_rights(bool kernel);

#endif
