/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names as the text formats spell them: one word each, since readers split lines at blanks.
 * A function's name loses its return type and parameters:
 * `std::map<int, int>::find(int const&)` becomes `std::map<int,int>::find`.
 *
 * In everything appended here, control characters and bytes that are not UTF-8 become '?',
 * and ';', which ends frames in the folded format, becomes ':'.
 */
#ifndef PMP_WRITE_NAMES_H
#define PMP_WRITE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "report/report.h"

struct pmp_name_style {
	/* Leave out what is in brackets, `std::map<>::find`. This leaves no commas: any
	 * others become ':'. */
	bool elide;
	bool lines;  /* add (file:line) if known, ... */
	bool module; /* ... else (module) if it is a file */
};

/* A demangled function name; "[unknown]" if it is empty. */
void pmp_name_function(struct pmp_buf *buf, const char *name, bool elide);
/* A frame: its function and what the style adds to it. */
void pmp_name_frame(struct pmp_buf *buf, const struct pmp_frame *frame,
		    const struct pmp_name_style *style);
/* A thread's or a process's name as one word: blanks become '_'. */
void pmp_name_word(struct pmp_buf *buf, const char *name);
/* A path without its directories. */
const char *pmp_name_base(const char *path);
/* A path as one word; blanks and the like are escaped as in /proc/PID/maps: \040. */
void pmp_name_path(struct pmp_buf *buf, const char *path);
/* Stands for the unknown rest of a stack: "[not stopped: epoll_wait]",
 * "[truncated: no unwind information]". Appends nothing for a complete stack. */
void pmp_name_end(struct pmp_buf *buf, enum pmp_end end, const char *reason);

#endif
