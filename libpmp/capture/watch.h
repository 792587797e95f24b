/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has a thread run since its last sample? If not, its stack is the same, and is counted
 * again without being read.
 *
 * The evidence is the number of times it was put on a processor: the third number of
 * /proc/PID/task/TID/schedstat, read through an open descriptor (0.4 us). Equal stack
 * pointer, pc and system call would prove nothing: a third of the calls of one function by
 * two different paths could not be told apart.
 */
#ifndef PMP_CAPTURE_WATCH_H
#define PMP_CAPTURE_WATCH_H

#include "capture/stop.h"
#include "proc/process.h"
#include "sample.h"

#define PMP_SCHEDSTAT_SIZE 64 /* three numbers; the largest ones need more */

/* How often a thread was put on a processor, and the rest of its schedstat. */
struct pmp_run_count {
	uint64_t value; /* differs if the thread has run; 0: unknown */
	uint64_t cpu;	/* ns on a processor; 0: unknown */
	uint64_t runs;	/* times put on a processor; 0: unknown */
};

/* Text of schedstat and its meaning: mostly unchanged since the last time. */
struct pmp_schedstat {
	struct pmp_run_count run_count;
	size_t length; /* of text; 0: none */
	char text[PMP_SCHEDSTAT_SIZE];
};

/* A stack that could not be unwound completely although all registers were known: the call
 * it was in, its number of frames, and the last of them. */
struct pmp_dead_end {
	uint64_t pc, sp; /* pc 0: none */
	uint64_t last;	 /* a pc */
	size_t count;
};

/* What is known about a thread from its last sample. Fields that each capture reads, for
 * thousands of threads, come first: they fit into two cache lines. */
struct pmp_watch {
	pid_t tid;
	int file;	  /* of schedstat; -1: not open */
	uint64_t proven;  /* the run count at which what follows was read; 0: the thread
			   * was not known to be asleep then */
	uint64_t met;	  /* number of the capture that used it last */
	uint64_t changed; /* number of the last capture that found it had run */
	uint64_t changes; /* number of captures that found it had run */
	uint64_t waiting; /* the run count at which thread.wait was read; 0: never */
	pid_t ns_tid;	  /* in its own pid namespace, once it was read; else 0 */
	bool unwanted;	  /* rejected by name; nothing else was read */
	bool idle;	  /* has not run for many captures: see idle-set.h */
	bool asleep_roughly; /* thread.asleep_since may be too late: see asleep.h */
	struct pmp_schedstat last;
	struct pmp_thread thread;
	struct pmp_raw_frame *frames; /* thread.frame_count of them */
	size_t frame_capacity;
	struct pmp_dead_end dead_end; /* of its last stop in a call */
	uint64_t spared;	      /* it must not be stopped before this time */
	/* Number of the last capture that found the holder of what it waits for asleep
	 * with the stack of that sample. */
	uint64_t held;
	/* The futex on which another thread waits for a lock that this one seems to hold;
	 * 0: unknown. */
	uint64_t lock;
	/* The pieces of stack that its walk needed. */
	size_t range_count; /* 0: unknown */
	struct {
		uint64_t address;
		size_t want;
	} ranges[PMP_REQUEST_RANGES];
};

/* A thread keyed by something else than its tid: its id in its namespace, or a lock. */
struct pmp_keyed_tid {
	uint64_t key; /* must be first, see base/search.h */
	pid_t tid;
};

/* Ascending by their keys, then by their ids. */
void pmp_keyed_tids_sort(struct pmp_keyed_tid *items, size_t count);

struct pmp_watches {
	struct pmp_watch **items; /* ascending tids */
	size_t count, capacity;
	uint64_t version; /* incremented when a thread has run, is added, removed or in
			   * doubt */
	/* Those with an ns_tid, sorted by it. Valid while by_own_current; see
	 * wait-read.c. */
	struct pmp_keyed_tid *by_own;
	size_t own_count, own_capacity;
	bool by_own_current;
	bool by_switches; /* this kernel has no schedstat */
	int file_limit;	  /* descriptors that stay open are below this number ... */
	size_t files, files_max; /* ... and at most files_max, one for each thread */
};

/* Finds out what this kernel reports about the process. files: see pmp_target_options. */
void pmp_watches_init(struct pmp_watches *watches, const struct pmp_process *process,
		      unsigned files);
void pmp_watches_free(struct pmp_watches *watches);
/* Keep one for each of these ids (ascending), and drop all others. 0 or PMP_ENOMEM. */
int pmp_watches_renew(struct pmp_watches *watches, const pid_t *tids, size_t count);
/* The watch of this thread, or NULL. */
struct pmp_watch *pmp_watches_find(const struct pmp_watches *watches, pid_t tid);
/* Invalidate all proofs, because other code may be at the addresses. */
void pmp_watches_doubt(struct pmp_watches *watches);

/*
 * Read the run count. If two are equal, and a peek between them found the thread blocked,
 * it has not run since that peek. 0, PMP_ESRCH (it has exited), PMP_ELIMIT.
 */
int pmp_watch_read(struct pmp_watches *watches, const struct pmp_process *process,
		   struct pmp_watch *watch, struct pmp_run_count *run_count);
/* Remember a stack that was read at this run count. 0 or PMP_ENOMEM. */
int pmp_watch_keep(struct pmp_watch *watch, uint64_t run_count,
		   const struct pmp_thread *thread, const struct pmp_raw_frame *frames,
		   size_t count);

#endif
