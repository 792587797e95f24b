/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening paths of which a part comes from others: a debug link, a saved profile. Links such as
 * /proc/PID/root and /proc/PID/fd/N lead to places that have no name here, also into mounts
 * that a user has made for himself alone: a file server of his that answers if it likes, to
 * whom it likes. So no such link is followed, wherever in the path it is, or a symbolic
 * link leads.
 */
#ifndef PMP_BASE_PATH_H
#define PMP_BASE_PATH_H

#include <stddef.h>

/*
 * O_PATH descriptor of a path, or a negative errno (-ELOOP: there is such a link). The first
 * `given` bytes, or all, are what our own user has written, a directory if more follows:
 * this may be /proc/PID/root.
 */
int pmp_path_open(const char *path, size_t given);
/* The same below a directory, with nothing given, for kernels and sandboxes without
 * openat2(). It follows no link in /proc at all. */
int pmp_path_walk(int at, const char *path);

#endif
