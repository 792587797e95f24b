/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distinct stacks and their counts. A stack is a key of 32-bit words (what it belongs to,
 * then its locations), and pmp_intern() gives equal keys the same number: the index of
 * its entry. So a stack that is seen again costs one look-up and one addition; the key's
 * copy in the intern table is also where the entry's locations lie.
 */
#ifndef PMP_TALLY_STACK_TABLE_H
#define PMP_TALLY_STACK_TABLE_H

#include "base/intern.h"
#include "libpmp.h"
#include "sample.h"
#include "tally/heap-sums.h"
#include "tally/lock-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_ENTRY_NONE UINT32_MAX

/* What an entry has to do with locks. A wait is found as long as its thread is not put on a
 * processor: most are shorter than the time between samples, so those that were found are
 * fewer than there were. */
struct pmp_entry_waits {
	const struct pmp_lock *lock; /* that its threads waited for; NULL: none known */
	uint64_t contentions;	     /* different waits */
	/* While others waited for a lock that it had, or for one who waited for it: */
	uint64_t held_contentions; /* of theirs, those that began with it */
	uint64_t held_delay;	   /* their time, ns */
};

/* A distinct (process, its name, stack, end, why; by_thread: also thread and its
 * name; details: also thread, its name, state, system call and wait channel; waits: also
 * lock). Names are raw bytes. */
struct pmp_entry {
	pid_t pid, tid; /* tid: 0 unless threads are kept apart */
	const char *process;
	const char *thread;  /* "" likewise */
	const char *syscall; /* its name, or number; "": in none, or no details */
	const char *wchan;   /* "": unknown, or no details */
	const char *reason;  /* "" or why it was not stopped */
	enum pmp_end end;
	char state;		       /* of the most recent sample */
	const pmp_location *locations; /* innermost first */
	size_t location_count;
	uint64_t count;	      /* 0: it has CPU time only, see PMP_END_BETWEEN */
	uint64_t running;     /* how often it was found running, see cpu-time.h */
	uint64_t cpu;	      /* ns on a CPU, after pmp_profile_divide_cpu() */
	uint64_t settled_cpu; /* of cpu, what does not change any more */
	uint64_t wall;	      /* ns since the threads' previous samples */
	struct pmp_entry_waits *waits; /* NULL: not kept */
	struct pmp_heap_sums *heap; /* what it has allocated; NULL: not of a recorder */
};

/* Found once more in a stack that is known: for each of thousands of threads, so it is small. */
struct pmp_entry_find {
	char state;
	uint64_t running, wall;	       /* as those of struct pmp_entry */
	struct pmp_entry_waits *waits; /* NULL: not kept */
};

struct pmp_entries {
	bool by_thread, details;  /* what is kept apart, see struct pmp_entry */
	bool heaps;		  /* what a recorder has written down: with sums of it */
	struct pmp_locks *locks;  /* of waits, else NULL */
	struct pmp_intern *names; /* of processes and threads, reasons */
	struct pmp_intern *keys;  /* id: index of all */
	struct pmp_entry *all;
	size_t count, capacity;
	size_t between_count; /* of all, those of PMP_END_BETWEEN */
	struct pmp_waits_block *waits_blocks;
	size_t waits_capacity;
	struct pmp_heap_block *heap_blocks;
	size_t heap_capacity;
	uint32_t *key; /* the current key */
	size_t key_capacity;
};

/* What a saved profile says may be anything: formats have signed numbers. */
static inline uint64_t pmp_count_sum(uint64_t a, uint64_t b)
{
	return b > INT64_MAX - a ? INT64_MAX : a + b;
}

/* Empty ones. false: no memory, to be freed all the same. */
bool pmp_entries_init(struct pmp_entries *entries, bool by_thread, bool details,
		      bool waits);
void pmp_entries_free(struct pmp_entries *entries);
/* Count one; what it points to is copied. Its number, or PMP_ENTRY_NONE: no memory. */
uint32_t pmp_entries_count(struct pmp_entries *entries, const struct pmp_entry *entry);
/* Add to the counts of an entry. */
void pmp_entry_add(struct pmp_entry *counted, const struct pmp_entry *entry);
void pmp_entry_add_find(struct pmp_entry *counted, const struct pmp_entry_find *find);
/* So many threads that were counted in it last are found so again, after this time. */
void pmp_entry_add_still(struct pmp_entry *counted, uint32_t threads, uint64_t wall);
/* The bytes that they take. */
uint64_t pmp_entries_size(const struct pmp_entries *entries);

#endif
