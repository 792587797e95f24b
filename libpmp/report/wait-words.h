/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the memory around a futex says of a lock, once the waiter's functions have told
 * its kind. It never says who holds the lock.
 */
#ifndef PMP_REPORT_WAIT_WORDS_H
#define PMP_REPORT_WAIT_WORDS_H

#include "report/wait-functions.h"
#include "sample.h"

enum pmp_saying {
	PMP_SAYS_NOTHING, /* or nothing that makes sense */
	PMP_SAYS_FREE,	  /* no thread holds the lock */
	PMP_SAYS_WRITER,  /* a rwlock held by one writer */
	PMP_SAYS_READERS, /* a rwlock held by .count readers */
	PMP_SAYS_ARRIVED, /* a barrier where .count of .of have arrived, at least 1 */
	PMP_SAYS_VALUE,	  /* a semaphore with the value .count */
};

struct pmp_said {
	enum pmp_saying what;
	uint32_t count, of;
};

/* kind: of the lock. module: path of the file that its function is in. */
struct pmp_said pmp_words_say(enum pmp_named_kind kind, const char *module,
			      const struct pmp_wait_words *words);

#endif
