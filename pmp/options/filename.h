/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File names with conversions, and matching of names against such patterns. */
#ifndef PMP_OPTIONS_FILENAME_H
#define PMP_OPTIONS_FILENAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The values of the conversions. */
struct filename {
	const char *pattern;
	const char *process; /* %n */
	pid_t pid;	     /* %p */
	time_t time;	     /* %t, local time */
	unsigned again;	     /* appended to %t as _2, _3: earlier names were taken */
	uint64_t counter;    /* %c */
};

struct filename_found {
	pid_t pid;
	uint64_t counter;
};

/* A hint that lists the conversions, for invalid patterns. */
#define PMP_FILENAME_HINT "%p is the pid, %n the name, %t the time, %c a counter, %% a %"

#define PMP_FILENAME_COUNTER_MAX UINT64_C(999999999)

/** Is the pattern valid: only %p %n %t %c and %%, the counter in the last component? */
bool filename_check(const char *pattern);

/** Does it contain this conversion? */
bool filename_has(const char *pattern, char letter);

/** Does each file get a name of its own, by a time or a counter in the last component? */
bool filename_is_series(const char *pattern);

/** The last component of a pattern. */
const char *filename_base(const char *pattern);

/** Make the name. 0 or ENAMETOOLONG. */
int filename_expand(const struct filename *filename, char *path, size_t size);

/** A process name as for %n: without characters that are special in paths or lines. */
void filename_process(const char *process, char *text, size_t size);

/**
 * Could this name in a directory come from the pattern's last component, with the same
 * process name and any pid, time and counter? Puts the pid and counter that it contains
 * into found.
 */
bool filename_match(const struct filename *filename, const char *name,
		    struct filename_found *found);

#endif
