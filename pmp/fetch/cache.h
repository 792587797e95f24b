/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory in which debuginfod-find keeps files. As root it is not the one that root's
 * other programs use: debuginfod-find runs as a user of its own then, who could give them
 * false files.
 */
#ifndef PMP_FETCH_CACHE_H
#define PMP_FETCH_CACHE_H

#include <limits.h>
#include <sys/types.h>

struct fetch_cache {
	int fd;
	uid_t user; /* who debuginfod-find is to be */
	char path[PATH_MAX];
};

/** Find it by the variables that debuginfod-find reads, make it if need be, and open it. 0
 * or an errno; the path is there in any case. */
int cache_open(struct fetch_cache *cache);
void cache_close(struct fetch_cache *cache);
/** Open a file of it for reading, by its path in the directory. -1: it is not there, no
 * regular file, a link, or of another user. */
int cache_file(const struct fetch_cache *cache, const char *path);

#endif
