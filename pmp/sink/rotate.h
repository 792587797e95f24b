/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a pattern has made in a directory: find their
 * counter, remove the oldest. */
#ifndef PMP_SINK_ROTATE_H
#define PMP_SINK_ROTATE_H

#include "options/filename.h"

#include <stdint.h>

/** The highest counter (%c) among our files; 0: none, or the directory cannot be read. */
uint64_t keep_counter(int directory, const struct filename *filename);

/**
 * Remove all but the newest `keep` files. Only our own regular files count; own, the one
 * just written, always stays. Others may remove files meanwhile. 0 or an errno; name
 * (NAME_MAX + 1) is then the file that could not be removed, or empty.
 */
int rotate_newest(int directory, const struct filename *filename, const char *own,
		  uint64_t keep, char *name);

/** Remove temporary files of runs that were killed long ago during a rename. */
void rotate_remove_stale(int directory);

/** A temporary name for a file: a different one each time, which cannot be guessed. */
void rotate_temporary_name(char *name, size_t size);

#endif
