/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache directory of debuginfod-find. For root it is not the one that root's
 * other programs use: debuginfod-find then runs as a separate user, who could
 * plant false files in it.
 */
#ifndef PMP_FETCH_CACHE_H
#define PMP_FETCH_CACHE_H

#include <limits.h>
#include <sys/types.h>

struct fetch_cache {
	int fd;
	uid_t user; /* that debuginfod-find runs as */
	char path[PATH_MAX];
};

/** Find it by the variables that debuginfod-find reads, create it if missing, and open it.
 * 0 or an errno; path is set in either case. */
int cache_open(struct fetch_cache *cache);
void cache_close(struct fetch_cache *cache);
/** Open a file in it for reading, by its path relative to the cache. -1: it does not exist,
 * is not a regular file, has a link in its path, or belongs to another user. */
int cache_file(const struct fetch_cache *cache, const char *path);

#endif
