/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The locks that counted threads have waited for, each with its holder at that time, by
 * small numbers, which are part of the keys of stacks. A lock is kept by its place; its
 * name is looked up only when it is shown, like names of functions. Locks of saved profiles
 * have a text instead.
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

/* Can a wait be charged to the holder's stack in the sample? */
enum pmp_holder_stack {
	PMP_HOLDER_STACK_KNOWN,
	PMP_HOLDER_STACK_ABSENT,   /* the holder was not in the sample */
	PMP_HOLDER_STACK_MOVED_ON, /* of another moment, see PMP_WAIT_MOVED_ON */
	PMP_HOLDER_STACK_COUNT
};

/* How saved profiles say PMP_HOLDER_STACK_MOVED_ON. */
#define PMP_LABEL_MOVED_ON "moved on"

/* Compared as bytes, so it must have no padding. */
struct pmp_lock {
	uint8_t kind;	      /* enum pmp_wait_kind */
	uint8_t holder_is;    /* enum pmp_holder_is */
	uint8_t holder_stack; /* enum pmp_holder_stack */
	uint8_t unused;
	pid_t holder;		 /* 0: not known, or threads are not kept apart */
	uint64_t address;	 /* 0: locks are kept apart by kind only */
	const char *holder_name; /* of the thread; raw bytes; "": not known */
	const char *text;	 /* in a saved profile: kind and name; else "" */
	struct pmp_located_object object;
	uint32_t free_as; /* PMP_WORD_FREE_ flags of a futex */
};

struct pmp_locks;

struct pmp_locks *pmp_locks_new(void); /* NULL: out of memory */
void pmp_locks_free(struct pmp_locks *locks);
/* The number of a lock (0, 1, ...), which is added if it is new; strings are copied. Beyond
 * PMP_LOCKS_MAX all new locks of a kind share one number. PMP_LOCK_NONE: out of memory. */
uint32_t pmp_locks_add(struct pmp_locks *locks, const struct pmp_lock *lock);
/* Valid for the life of the table. */
const struct pmp_lock *pmp_locks_get(const struct pmp_locks *locks, uint32_t number);
size_t pmp_locks_count(const struct pmp_locks *locks);
/* Memory used, in bytes. */
uint64_t pmp_locks_size(const struct pmp_locks *locks);

/* The lock that stands for all of its kind. */
struct pmp_lock pmp_lock_of_kind(const struct pmp_lock *lock);
/* Does waiting for it count as contention? Not for the end of a thread, or an event. */
bool pmp_lock_is_contended(const struct pmp_lock *lock);

/* What is shown in place of a holder's name, "[no holder]" for instance; NULL: the holder
 * is a thread. */
const char *pmp_lock_holder_mark(enum pmp_holder_is holder_is);
/* Set holder_is and holder_name from such a mark or a name, which is borrowed. */
void pmp_lock_set_holder(struct pmp_lock *lock, const char *text);

#endif
