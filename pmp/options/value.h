/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values on the command line, parsed strictly: nothing may precede or follow them. */
#ifndef PMP_OPTIONS_VALUE_H
#define PMP_OPTIONS_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/** A whole decimal number. False if it is anything else, or too large. */
bool value_number(const char *text, uint64_t *number);

/** A time in ns: 10, 1.5, 10ms, 100us, 1m, 2h, 3d, 1w; without a unit in seconds. */
bool value_time(const char *text, uint64_t *time);

/** A size in bytes: 1000000, 512K, 256M, 2G (powers of 1024). */
bool value_size(const char *text, uint64_t *size);

/** A frequency in Hz, "10" or "0.5"; *interval: time between two ticks in ns. */
bool value_frequency(const char *text, uint64_t *interval);

/**
 * Split a line into words as a shell does: blanks separate, '…', "…" and \ quote; nothing
 * is expanded. Returns a vector that ends with NULL; free() frees it with its words.
 * NULL: no memory (*problem is NULL), or *problem says what is wrong. *count is the
 * number of words.
 */
char **value_split(const char *line, int *count, const char **problem);

#endif
