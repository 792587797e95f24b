/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What debuginfod-find may do: it speaks to the network, so it gets a user of its own if root
 * may give it one, no capabilities, and, as far as the kernel can, no file to write but those
 * of its cache, none to read but those of the system, and none of the calls that only those
 * make who want something else.
 */
#ifndef PMP_FETCH_CONFINE_H
#define PMP_FETCH_CONFINE_H

#include "confine/program.h"
#include "fetch/cache.h"

/** Rules for its files (confine/landlock.h): a descriptor, or -1. program: its path. */
int confine_find_rules(const struct fetch_cache *cache, const char *program);
/** What it may do. rules may be -1. */
struct confine_program confine_find(const struct fetch_cache *cache, int rules);

#endif
