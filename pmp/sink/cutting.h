/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what a client gets of a window. */
#ifndef PMP_SINK_CUTTING_H
#define PMP_SINK_CUTTING_H

#include "libpmp-program.h"
#include "sink/answers-parts.h"

#include <stddef.h>

/* The result of writing. */
struct written {
	struct pmp_covered covered; /* of a heap: the time of its change */
	int code;		    /* 0 or an error, with err */
	struct pmp_error err;
};

struct cutting {
	const struct answers *answers;
	const struct awaited *awaited;
	int body; /* the file to write to */
	struct written written;
};

/** Cut out a window and write it, in the worker or in a writer. arg: struct cutting. */
void cutting_write(void *arg);
/** Describe the time that a page covers, for its client; "": there is none. */
void cutting_say(const struct page *page, const struct pmp_covered *covered, char *text,
		 size_t size);

#endif
