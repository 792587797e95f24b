/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a client gets of a window. */
#ifndef PMP_SINK_CUTTING_H
#define PMP_SINK_CUTTING_H

#include "libpmp-program.h"
#include "sink/answers-parts.h"

#include <stddef.h>

/* What has been written. */
struct written {
	struct pmp_covered covered; /* of a heap: the time of its change */
	int code;		    /* 0 or an error, with err */
	struct pmp_error err;
};

struct cutting {
	const struct answers *answers;
	const struct awaited *awaited;
	int body; /* where to */
	struct written written;
};

/** Cut out a window and write it: for the worker, or for a writer. arg: struct cutting. */
void cutting_write(void *arg);
/** What of the past a page has, for its client; "": nothing to be said. */
void cutting_say(const struct page *page, const struct pmp_covered *covered, char *text,
		 size_t size);

#endif
