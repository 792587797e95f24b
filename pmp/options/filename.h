/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of files with conversions, and which names such a pattern can have made. */
#ifndef PMP_OPTIONS_FILENAME_H
#define PMP_OPTIONS_FILENAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* What the conversions stand for. */
struct filename {
	const char *pattern;
	const char *process; /* %n */
	pid_t pid;	     /* %p */
	time_t time;	     /* %t, local time */
	unsigned again;	     /* after %t as _2, _3: names before it were taken */
	uint64_t counter;    /* %c */
};

struct filename_found {
	pid_t pid;
	uint64_t counter;
};

/* What conversions there are, for whoever has written another one. */
#define PMP_FILENAME_HINT "%p is the pid, %n the name, %t the time, %c a counter, %% a %"

#define PMP_FILENAME_COUNTER_MAX UINT64_C(999999999)

/** Is the pattern well formed: only %p %n %t %c and %%, the counter in the last
 * component? */
bool filename_check(const char *pattern);

/** Does it hold this conversion? */
bool filename_has(const char *pattern, char letter);

/** Its last component. */
const char *filename_base(const char *pattern);

/** The name; 0 or ENAMETOOLONG. */
int filename_expand(const struct filename *filename, char *path, size_t size);

/** The name of a process as %n has it: nothing in it that a path or a line minds. */
void filename_process(const char *process, char *text, size_t size);

/**
 * Can this name in a directory be one of the pattern's last component, for the same
 * process name and any process id, time and counter? Those that it has go to found.
 */
bool filename_match(const struct filename *filename, const char *name,
		    struct filename_found *found);

#endif
