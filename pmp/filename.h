/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of files with conversions, and which names such a pattern can have made. */
#ifndef PMP_PMP_FILENAME_H
#define PMP_PMP_FILENAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* What the conversions stand for. */
struct pmp_filename {
	const char *pattern;
	const char *process; /* %n */
	pid_t pid;	     /* %p */
	time_t time;	     /* %t, local time */
	unsigned again;	     /* behind %t as _2, _3: names before it were taken */
	uint64_t counter;    /* %c */
};

struct pmp_filename_found {
	pid_t pid;
	uint64_t counter;
};

#define PMP_FILENAME_COUNTER_MAX UINT64_C(999999999)

/** Is the pattern well formed: only %p %n %t %c and %%, the counter in the last
 * component? */
bool pmp_filename_check(const char *pattern);

/** Does it hold this conversion? */
bool pmp_filename_has(const char *pattern, char letter);

/** Its last component. */
const char *pmp_filename_base(const char *pattern);

/** The name; 0 or ENAMETOOLONG. */
int pmp_filename_expand(const struct pmp_filename *filename, char *path, size_t size);

/** The name of a process as %n has it: nothing in it that a path or a line minds. */
void pmp_filename_process(const char *process, char *text, size_t size);

/**
 * Can this name in a directory be one of the pattern's last component, for the same
 * process name and any process id, time and counter? Those that it has go to found.
 */
bool pmp_filename_match(const struct pmp_filename *filename, const char *name,
			struct pmp_filename_found *found);

#endif
