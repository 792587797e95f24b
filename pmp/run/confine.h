/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reduce the rights of the front once its initial children have been forked: the sampler,
 * the command, the server and the file readers. It only counts and writes what they send.
 */
#ifndef PMP_RUN_CONFINE_H
#define PMP_RUN_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

struct options;

/** targets: how many processes are sampled. Must be called while single-threaded, as rights
 * are per thread. False: the front has kept all of its capabilities. */
bool confine_front(const struct options *options, size_t targets);

#endif
