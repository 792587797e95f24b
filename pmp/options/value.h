/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values on the command line: strict, nothing before or after them. */
#ifndef PMP_OPTIONS_VALUE_H
#define PMP_OPTIONS_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/** A whole decimal number. False if it is something else or does not fit. */
bool value_number(const char *text, uint64_t *number);

/** A time: 10, 1.5, 10ms, 100us, 1m, 2h, 3d, 1w; seconds without a unit. In ns. */
bool value_time(const char *text, uint64_t *time);

/** A size in bytes: 1000000, 512K, 256M, 2G (powers of 1024). */
bool value_size(const char *text, uint64_t *size);

/** A frequency in Hz, "10" or "0.5", as the time between two ticks in ns. */
bool value_frequency(const char *text, uint64_t *interval);

/**
 * Split a line into words as a shell does: blanks separate, '…', "…" and \ quote;
 * nothing is expanded. Returns a vector ending with NULL (words and vector are one
 * block: free() it), or NULL: no memory (*problem is NULL) or *problem says what is
 * wrong. *count is the number of words.
 */
char **value_split(const char *line, int *count, const char **problem);

#endif
