/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What debuginfod-find may do: it speaks to the network, so it gets a user of its own if root
 * may give it one, no capabilities, and, as far as the kernel can, no file to write but those
 * of its cache, none to read but those of the system, and none of the calls that only those
 * make who want something else.
 */
#ifndef PMP_FETCH_CONFINE_H
#define PMP_FETCH_CONFINE_H

#include <stddef.h>

#include "fetch/cache.h"

/** Rules for its files (confine/landlock.h): a descriptor, or -1. program: its path. */
int confine_find_rules(const struct fetch_cache *cache, const char *program);
/** In the child, before it becomes the program; no memory is allocated. rules may be -1. 0 or
 * an errno: it has not become its user. */
int confine_find(const struct fetch_cache *cache, int rules);
/** What cannot be taken from it, in words for -v; "" if all can. rules as above. */
void confine_find_missing(const struct fetch_cache *cache, int rules, char *text,
			  size_t size);

#endif
