/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has a thread run since its last sample? If not, its stack is the same, and is
 * counted again without anything being read of it.
 *
 * The evidence is the number of times it was put on a processor: the third number of
 * /proc/PID/task/TID/schedstat, through a descriptor that is kept (0.4 us). That the
 * stack pointer, the pc and the system call are the same says nothing: of calls
 * of one function by two different paths a third could not be told apart.
 */
#ifndef PMP_CAPTURE_WATCH_H
#define PMP_CAPTURE_WATCH_H

#include "capture/stop.h"
#include "proc/process.h"
#include "sample.h"

#define PMP_SCHEDSTAT_SIZE 64 /* three numbers; the largest ones need more */

/* How often a thread was put on a processor, and what else its schedstat says. */
struct pmp_run_count {
	uint64_t value; /* differs if the thread has run; 0: no telling */
	uint64_t cpu;	/* ns on a processor; 0: unknown */
	uint64_t runs;	/* times put on a processor; 0: unknown */
};

/* A text of schedstat and what it means: mostly it is the same as the last time. */
struct pmp_schedstat {
	struct pmp_run_count run_count;
	size_t length; /* of text; 0: none */
	char text[PMP_SCHEDSTAT_SIZE];
};

/* A stack that could not be followed to its end, though all registers were known: the call
 * that it was in, how many frames there are, and the last of them. */
struct pmp_dead_end {
	uint64_t pc, sp; /* pc 0: none */
	uint64_t last;	 /* a pc */
	size_t count;
};

/* What is known of a thread from its last sample. What each capture reads of thousands
 * comes first: it is in two lines of the processor's cache. */
struct pmp_watch {
	pid_t tid;
	int file;	  /* of schedstat; -1: to be opened */
	uint64_t proven;  /* the run count at which what follows was read; 0: it was not
			  * read from a thread that is known to have been asleep */
	uint64_t met;	  /* number of the capture that has asked for it last */
	uint64_t changed; /* of the last one that has found it to have run */
	uint64_t changes; /* how many have */
	uint64_t waiting; /* the run count at which thread.wait was read; 0: never */
	pid_t ns_tid;	  /* in its own pid namespace, once asked for; else 0 */
	bool unwanted;	  /* by its name; no more was read */
	bool idle;	  /* since long before this capture: see idle-set.h */
	bool asleep_roughly; /* thread.asleep_since is later than it might be: see asleep.h */
	struct pmp_schedstat last;
	struct pmp_thread thread;
	struct pmp_raw_frame *frames; /* thread.frame_count of them */
	size_t frame_capacity;
	struct pmp_dead_end dead_end; /* of its last stop in a call */
	/* Number of the last capture that found the holder of what it waits for asleep, in
	 * the stack of that sample. */
	uint64_t held;
	/* The futex by which another thread waits for a lock that this one seems to hold; 0:
	 * not known. */
	uint64_t lock;
	/* The pieces of stack that its walk has needed. */
	size_t range_count; /* 0: nothing known */
	struct {
		uint64_t address;
		size_t want;
	} ranges[PMP_REQUEST_RANGES];
};

/* A thread by something else than its id: by its id in its namespace, by a lock. */
struct pmp_keyed_tid {
	uint64_t key; /* first, see base/search.h */
	pid_t tid;
};

/* Ascending by their keys, then by their ids. */
void pmp_keyed_tids_sort(struct pmp_keyed_tid *items, size_t count);

struct pmp_watches {
	struct pmp_watch **items; /* ascending tids */
	size_t count, capacity;
	uint64_t version; /* grows when one has run, comes, goes or is in doubt */
	/* Sorted by ns_tid: those that have one. True of these items as long as
	 * by_own_current; see wait-read.c. */
	struct pmp_keyed_tid *by_own;
	size_t own_count, own_capacity;
	bool by_own_current;
	bool by_switches;	 /* this kernel has no schedstat */
	int file_limit;		 /* descriptors are kept below this number ... */
	size_t files, files_max; /* ... and so many, one of each thread */
};

/* Finds out what this kernel reports of the process. files: see pmp_target_options. */
void pmp_watches_init(struct pmp_watches *watches, const struct pmp_process *process,
		      unsigned files);
void pmp_watches_free(struct pmp_watches *watches);
/* One for each of these ids (ascending); those of others are dropped. 0 or PMP_ENOMEM. */
int pmp_watches_renew(struct pmp_watches *watches, const pid_t *tids, size_t count);
/* The one of this thread, or NULL. */
struct pmp_watch *pmp_watches_find(const struct pmp_watches *watches, pid_t tid);
/* Nothing is proven any more: other code may be at the addresses. */
void pmp_watches_doubt(struct pmp_watches *watches);

/*
 * Two equal run counts, and a peek between them that found the thread blocked: it has
 * not run since that peek. 0, PMP_ESRCH (it has ended), PMP_ELIMIT.
 */
int pmp_watch_read(struct pmp_watches *watches, const struct pmp_process *process,
		   struct pmp_watch *watch, struct pmp_run_count *run_count);
/* Remember a stack that was read at this run count. 0 or PMP_ENOMEM. */
int pmp_watch_keep(struct pmp_watch *watch, uint64_t run_count,
		   const struct pmp_thread *thread, const struct pmp_raw_frame *frames,
		   size_t count);

#endif
