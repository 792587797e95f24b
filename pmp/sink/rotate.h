/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a pattern has made in a directory: count them, remove the oldest. */
#ifndef PMP_SINK_ROTATE_H
#define PMP_SINK_ROTATE_H

#include "options/filename.h"

#include <stdint.h>

/** The highest counter (%c) among those of ours; 0: none, or the directory cannot be read. */
uint64_t keep_counter(int directory, const struct filename *filename);

/**
 * Remove all but the newest `keep` of them. Only regular files of ours count; own, the
 * one just written, always stays. What others remove meanwhile is fine. 0 or an errno;
 * name (NAME_MAX + 1) is then the file that could not be removed, or empty.
 */
int rotate_newest(int directory, const struct filename *filename, const char *own,
		  uint64_t keep, char *name);

/** Remove what runs that were killed long ago have left in the middle of a rename. */
void rotate_remove_stale(int directory);

/** The name of a file until it is complete: another one each time, which cannot be guessed. */
void rotate_temporary_name(char *name, size_t size);

#endif
