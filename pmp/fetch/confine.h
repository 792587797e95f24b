/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confine debuginfod-find, which uses the network: it gets a user of its own if
 * pmp is root, no capabilities, and, as far as the kernel supports that, may only
 * write files of its cache, only read files of the system, and cannot make the
 * calls that only attackers make.
 */
#ifndef PMP_FETCH_CONFINE_H
#define PMP_FETCH_CONFINE_H

#include "confine/program.h"
#include "fetch/cache.h"

/** Rules for its files (confine/landlock.h): a descriptor, or -1. program: its path. */
int confine_find_rules(const struct fetch_cache *cache, const char *program);
/** Its confinement. rules may be -1. */
struct confine_program confine_find(const struct fetch_cache *cache, int rules);

#endif
