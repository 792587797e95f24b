/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distinct stacks and their counts. The key of a stack is a sequence of 32-bit words (what
 * it belongs to, then its locations), and pmp_intern() gives equal keys the same number:
 * the index of the entry. So seeing a stack again costs one look-up and one addition. The
 * key's copy in the intern table also holds the entry's locations.
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

/* An entry's waits for locks. Consecutive finds of a thread that has not run in between are
 * one wait. Most waits are shorter than the time between samples, so fewer are found than
 * there were. */
struct pmp_entry_waits {
	const struct pmp_lock *lock; /* that its threads waited for; NULL: none known */
	uint64_t contentions;	     /* different waits */
	/* While other threads waited, directly or not, for a lock that this entry held: */
	uint64_t held_contentions; /* their waits that were first found with this entry */
	uint64_t held_delay;	   /* ns that they waited */
};

/* A distinct (process, its name, stack, end, why; by_thread: also thread and its
 * name; details: also thread, its name, state, system call and wait channel; waits: also
 * lock). Names are raw bytes. */
struct pmp_entry {
	pid_t pid, tid; /* tid: 0 unless threads are kept apart */
	const char *process;
	const char *thread;  /* "" unless threads are kept apart */
	const char *syscall; /* its name, or number; "": in none, or no details */
	const char *wchan;   /* "": unknown, or no details */
	const char *reason;  /* why it was not stopped, or "" */
	enum pmp_end end;
	char state;		       /* of the most recent sample */
	const pmp_location *locations; /* innermost first */
	size_t location_count;
	uint64_t count;	      /* 0: it has only CPU time, see PMP_END_BETWEEN */
	uint64_t running;     /* sum of weights of running finds, see cpu-time.h */
	uint64_t cpu;	      /* ns on a CPU, after pmp_profile_divide_cpu() */
	uint64_t settled_cpu; /* the part of cpu that is final */
	uint64_t wall;	      /* ns since the threads' previous samples */
	struct pmp_entry_waits *waits; /* NULL: not kept */
	struct pmp_heap_sums *heap;    /* what it has allocated; NULL: not of a heap */
};

/* Another find of a known stack. One is made for each of thousands of threads, so this is
 * smaller than struct pmp_entry. */
struct pmp_entry_find {
	char state;
	uint64_t running, wall;	       /* as those of struct pmp_entry */
	struct pmp_entry_waits *waits; /* NULL: not kept */
};

struct pmp_entries {
	bool by_thread, details;  /* what is kept apart, see struct pmp_entry */
	bool heaps;		  /* entries have .heap */
	struct pmp_locks *locks;  /* NULL unless waits are kept */
	struct pmp_intern *names; /* of processes and threads, reasons */
	struct pmp_intern *keys;  /* id: index of all */
	struct pmp_entry *all;
	size_t count, capacity;
	size_t between_count; /* of these, those with PMP_END_BETWEEN */
	struct pmp_waits_block *waits_blocks;
	size_t waits_capacity;
	struct pmp_heap_block *heap_blocks;
	size_t heap_capacity;
	uint32_t *key; /* the current key */
	size_t key_capacity;
};

/* a + b, at most INT64_MAX: saved profiles may have any value, and formats have signed
 * numbers. */
static inline uint64_t pmp_count_sum(uint64_t a, uint64_t b)
{
	return b > INT64_MAX - a ? INT64_MAX : a + b;
}

/* Make empty entries. false: out of memory; they have to be freed all the same. */
bool pmp_entries_init(struct pmp_entries *entries, bool by_thread, bool details,
		      bool waits);
void pmp_entries_free(struct pmp_entries *entries);
/* Count an entry; what it points to is copied. Returns its index; PMP_ENTRY_NONE: out of
 * memory. */
uint32_t pmp_entries_count(struct pmp_entries *entries, const struct pmp_entry *entry);
/* Add to the counts of a counted entry. */
void pmp_entry_add(struct pmp_entry *counted, const struct pmp_entry *entry);
void pmp_entry_add_find(struct pmp_entry *counted, const struct pmp_entry_find *find);
/* Count so many threads in this entry again, with `wall` ns each. */
void pmp_entry_add_still(struct pmp_entry *counted, uint32_t threads, uint64_t wall);
/* Memory used, in bytes. */
uint64_t pmp_entries_size(const struct pmp_entries *entries);

#endif
