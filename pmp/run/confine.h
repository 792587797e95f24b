/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the front may still do once all that it forks at first is there: the sampler, the
 * command, the server and what reads files. It counts what they send, and writes it.
 */
#ifndef PMP_RUN_CONFINE_H
#define PMP_RUN_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

struct options;

/** From now on; targets: how many it samples. To be called while single-threaded, as each
 * thread has rights of its own. False: it has kept all of its capabilities. */
bool confine_front(const struct options *options, size_t targets);

#endif
