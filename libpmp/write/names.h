/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names as the text formats spell them: one word each, since their readers split
 * lines at blanks. A function's name loses its return type and its parameters,
 * `std::map<int, int>::find(int const&)` reads `std::map<int,int>::find`.
 *
 * In whatever is appended here control characters and bytes that are not UTF-8
 * are '?', and ';' is ':', for the folded format ends frames with it.
 */
#ifndef PMP_WRITE_NAMES_H
#define PMP_WRITE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "report/report.h"

struct pmp_name_style {
	/* Leave out what stands in brackets, `std::map<>::find`: then there is
	 * no comma either (one of a strange name is ':'). */
	bool elide;
	bool lines;  /* add (file:line) where known, */
	bool module; /* else (module) where that is a file */
};

/* A demangled function's name; never nothing: "[unknown]" for an empty one. */
void pmp_name_function(struct pmp_buf *buf, const char *name, bool elide);
/* A frame: its function and what style wants after it. */
void pmp_name_frame(struct pmp_buf *buf, const struct pmp_frame *frame,
		    const struct pmp_name_style *style);
/* A thread's or a process's name as one word: blanks become '_'. */
void pmp_name_word(struct pmp_buf *buf, const char *name);
/* A path as one word, blanks and the like as /proc/PID/maps has them: \040. */
void pmp_name_path(struct pmp_buf *buf, const char *path);
/* What stands for the unknown rest of a stack: "[not stopped: epoll_wait]",
 * "[truncated: no unwind information]". Nothing for a complete stack. */
void pmp_name_end(struct pmp_buf *buf, enum pmp_end end, const char *reason);

#endif
