/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the memory around a futex says of a lock, once the functions of its waiter have told
 * which kind it is. That is never who holds it.
 */
#ifndef PMP_REPORT_WAIT_WORDS_H
#define PMP_REPORT_WAIT_WORDS_H

#include "report/wait-functions.h"
#include "sample.h"

enum pmp_saying {
	PMP_SAYS_NOTHING, /* that makes sense */
	PMP_SAYS_FREE,	  /* no thread holds the lock */
	PMP_SAYS_WRITER,  /* a rwlock: one thread holds it to write */
	PMP_SAYS_READERS, /* a rwlock: .count of them hold it to read */
	PMP_SAYS_ARRIVED, /* a barrier: .count of .of have come, 1 at least */
	PMP_SAYS_VALUE,	  /* a semaphore: .count */
};

struct pmp_said {
	enum pmp_saying what;
	uint32_t count, of;
};

/* Of a lock of this kind; module: the path of what its function belongs to. */
struct pmp_said pmp_words_say(enum pmp_named_kind kind, const char *module,
			      const struct pmp_wait_words *words);

#endif
