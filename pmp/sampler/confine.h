/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sampler may ask of the kernel. It may trace, and read what lies in /proc: whoever
 * got hold of it by what a target has in its memory could do that as well, but not start a
 * program or a process, talk to the network, write into the memory of others or give itself
 * other rights.
 */
#ifndef PMP_SAMPLER_CONFINE_H
#define PMP_SAMPLER_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/** From now on. Files are written no more, unless it writes debug messages. False: see
 * confine_calls(). */
bool confine_sampler_calls(bool debugs);
/** The bits of the capabilities that sampling needs, as far as this process has them or has
 * others instead; kernel: also for the stacks of the kernel. */
uint64_t confine_sampler_kept(bool kernel);
/** Of the capabilities that root has, or a user was given, those stay. To be called before
 * the calls are confined. False: it has kept others. */
bool confine_sampler_rights(bool kernel);

#endif
