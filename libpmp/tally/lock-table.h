/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The locks that counted threads have waited for, each with its holder then, by small
 * numbers: what keeps such stacks apart. Where a lock lies is kept, its name is looked up
 * when it is shown (as names of functions are); one of a saved profile has its text.
 */
#ifndef PMP_TALLY_LOCK_TABLE_H
#define PMP_TALLY_LOCK_TABLE_H

#include "resolve/symbolizer.h"
#include "sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_LOCKS_MAX 65536u
#define PMP_LOCK_NONE UINT32_MAX

/* Can a wait be charged to the stack that the sample has of the holder? */
enum pmp_holder_stack {
	PMP_HOLDER_STACK_KNOWN,
	PMP_HOLDER_STACK_ABSENT,   /* the holder was not in the sample */
	PMP_HOLDER_STACK_MOVED_ON, /* it was, at another moment: see PMP_WAIT_MOVED_ON */
	PMP_HOLDER_STACK_COUNT
};

/* Of the last of these, in saved profiles. */
#define PMP_LABEL_MOVED_ON "moved on"

/* Kept as bytes: there is no padding in it. */
struct pmp_lock {
	uint8_t kind;	      /* enum pmp_wait_kind, of which the last sample was sure */
	uint8_t holder_is;    /* enum pmp_holder_is */
	uint8_t holder_stack; /* enum pmp_holder_stack */
	uint8_t unused;
	pid_t holder;		 /* 0: not known, or threads are not kept apart */
	uint64_t address;	 /* 0: those of its kind are one */
	const char *holder_name; /* of the thread; raw, "": not known */
	const char *text;	 /* of a saved profile: its kind and name; else "" */
	struct pmp_located_object object;
	uint32_t free_as; /* of a futex: PMP_WORD_FREE_ flags */
};

struct pmp_locks;

struct pmp_locks *pmp_locks_new(void); /* NULL: no memory */
void pmp_locks_free(struct pmp_locks *locks);
/* The number of a lock, whose strings are copied: 0, 1, ... PMP_LOCK_NONE: no memory. All
 * that come when there are PMP_LOCKS_MAX are one for each kind. */
uint32_t pmp_locks_add(struct pmp_locks *locks, const struct pmp_lock *lock);
/* Stays where it is for the life of the table. */
const struct pmp_lock *pmp_locks_get(const struct pmp_locks *locks, uint32_t number);
size_t pmp_locks_count(const struct pmp_locks *locks);
/* The bytes that they take. */
uint64_t pmp_locks_size(const struct pmp_locks *locks);

/* All of its kind: without what tells it from others. */
struct pmp_lock pmp_lock_of_kind(const struct pmp_lock *lock);
/* Is to wait for it contention? Not so of the end of a thread, or of an event. */
bool pmp_lock_is_contended(const struct pmp_lock *lock);

/* What is said in place of a thread's name, "[no holder]"; NULL: it is a thread. */
const char *pmp_lock_holder_mark(enum pmp_holder_is holder_is);
/* Set holder_is and holder_name by such a mark or a name, which is borrowed. */
void pmp_lock_set_holder(struct pmp_lock *lock, const char *text);

#endif
