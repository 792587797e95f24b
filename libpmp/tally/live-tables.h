/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of a live have in common: its tables. A process, a thread and a counter
 * (of a thread with a stack in a state) are known by their index.
 */
#ifndef PMP_TALLY_LIVE_TABLES_H
#define PMP_TALLY_LIVE_TABLES_H

#include "libpmp-program.h"
#include "base/clock.h"
#include "base/intern.h"
#include "sample.h"
#include "tally/history.h"
#include "tally/lock-table.h"
#include "tally/longest.h"
#include "tally/sample-locks.h"
#include "tally/wait-history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_LIVE_STACKS_MAX (256u * 1024)
#define PMP_LIVE_COUNTERS_MAX (1024u * 1024)
/* The longest window of time; threads that were not seen in it have ended. */
#define PMP_LIVE_WINDOW_MAX (60 * PMP_S)
/* Calls of saved profiles have names only; their numbers begin here. */
#define PMP_LIVE_CALLS (1 << 20)
/* What the history takes at most; then the windows become shorter. */
#define PMP_LIVE_HISTORY_SIZE (UINT64_C(32) << 20)

struct pmp_counted_process {
	pid_t pid; /* 0: processes that have ended */
	char name[PMP_NAME_SIZE];
	uint64_t seen; /* time of its last sample */
	uint64_t samples;
	struct {
		uint64_t samples, time; /* ns between them */
	} before[PMP_WINDOW_COUNT];	/* of a window */
	struct pmp_sample_info last;
	size_t deadlocks; /* in it */
};

struct pmp_counted_thread {
	uint32_t process;
	pid_t tid; /* 0: threads that have ended */
	char name[PMP_NAME_SIZE];
	uint64_t seen;	  /* time of its last sample */
	uint64_t reading; /* number of its stack in that */
	char state;
	enum pmp_obtained obtained;
	uint32_t counter; /* of its last sample */
	char reason[PMP_REASON_SIZE];
	char wchan[PMP_WCHAN_SIZE];
	int syscall;
	struct pmp_wait wait;
	uint32_t lock;	     /* that it waits for, or PMP_LOCK_NONE */
	uint32_t holder;     /* thread that it waits for, or PMP_INTERN_NONE */
	uint32_t behind;     /* threads that wait for this one, directly or not */
	uint64_t wait_since; /* time of the first sample with this wait */
	/* Inferred from several samples, see tally/wait-history.h. */
	uint64_t found_since; /* all samples since then have found this wait */
	pid_t taker;	      /* who has taken the lock, and after which time; or 0 */
	uint64_t taken_after;
	uint64_t runs;
	uint64_t args[6];
	uint64_t cpu;
	uint64_t wall;				 /* of saved profiles */
	uint64_t mark_time, mark_cpu, mark_runs; /* where the measurement began */
	double cpu_share, switches;
};

/* What a counter has of the time before a window: count, and what its process has samples
 * since it was in it, for each of these threads. Both counts are modulo 2^32. */
struct pmp_counted_before {
	uint32_t count;
	uint32_t threads; /* one, or ended ones that were put together */
};

struct pmp_counted_counter {
	uint32_t thread, stack;
	uint32_t lock; /* that it waited for, or PMP_LOCK_NONE */
	uint32_t wait; /* what is counted of that, or PMP_INTERN_NONE */
	int syscall;
	char state;
	uint64_t count;
	struct pmp_counted_before before[PMP_WINDOW_COUNT];
};

/* Of a counter with a lock: few have one. */
struct pmp_live_wait_times {
	uint64_t delay;			   /* ns between samples that it waited for */
	uint64_t before[PMP_WINDOW_COUNT]; /* of a window, as that of a counter */
	/* ns of one wait, since the start; found: as all samples have found it. */
	uint64_t longest, longest_found;
	struct pmp_longest longest_of[PMP_WINDOW_COUNT],
		longest_found_of[PMP_WINDOW_COUNT];
};

/* What a process, a thread or a counter is known by. */
struct pmp_process_key {
	pid_t pid;
	char name[PMP_NAME_SIZE]; /* zero unless pid is 0; of saved profiles always */
};

struct pmp_thread_key {
	uint32_t process;
	pid_t tid;
	char name[PMP_NAME_SIZE]; /* zero unless tid is 0 */
};

struct pmp_counter_key {
	uint32_t thread, stack, state, lock;
};

/* Where a window begins in the past. */
struct pmp_live_tail {
	struct pmp_history_position at;
	/* The counter that each thread of the history was in before, or PMP_INTERN_NONE. */
	uint32_t *threads;
	size_t thread_count, thread_capacity;
	uint32_t process; /* of the last sample before, most likely */
};

/* What threads of a process wait for outside of it, as it was found last. */
struct pmp_live_peers {
	pid_t pid;
	struct pmp_outside *outsides;
	size_t outside_count, outside_capacity;
	struct pmp_other *others;
	size_t other_count, other_capacity;
};

struct pmp_live {
	struct pmp_counted_process *processes;
	size_t process_count, process_capacity;
	struct pmp_intern *process_keys, *thread_keys, *stack_keys, *counter_keys;
	struct pmp_intern *calls; /* of saved profiles, else NULL */
	struct pmp_counted_thread *threads;
	size_t thread_count, thread_capacity;
	size_t ended_count; /* of them, names of those that have ended */
	struct pmp_counted_counter *counters;
	size_t counter_count, counter_capacity;
	struct pmp_live_wait_times *waits;
	size_t wait_count, wait_capacity;
	struct pmp_locks *locks;	      /* that threads have waited for */
	struct pmp_sample_locks sample_locks; /* of the current sample */
	struct pmp_wait_histories histories;
	const struct pmp_wait_history *history; /* of its process */
	struct pmp_live_peers *peers;		/* of the processes that have any */
	size_t peer_count, peer_capacity;
	uint32_t *rows;	  /* its threads; after those, of samples before it */
	size_t row_count; /* that are known */
	size_t rows_capacity;
	struct pmp_history *past;	/* its entries are counters */
	struct pmp_history_find *finds; /* of the current sample */
	size_t find_capacity;
	struct pmp_live_tail tails[PMP_WINDOW_COUNT];
	uint32_t *words; /* the current stack: its end, its locations */
	size_t words_capacity;
	struct pmp_live_info info;
	struct pmp_live_window windows[PMP_WINDOW_COUNT];
	uint64_t first_time;
	bool saved;	     /* it was entries that were counted */
	uint64_t merge_time; /* not before it */
};

/* ---- live.c --------------------------------------------------------------------- */

/* Each makes what is not there yet; PMP_INTERN_NONE: no memory. */
uint32_t pmp_live_find_process(struct pmp_live *live, const struct pmp_process_key *key);
uint32_t pmp_live_find_thread(struct pmp_live *live, const struct pmp_thread_key *key);
uint32_t pmp_live_find_counter(struct pmp_live *live,
			       const struct pmp_counted_counter *like);
/* The longest wait of those that a counter has, in ns; found: as all samples have found
 * it. */
uint64_t pmp_live_longest(const struct pmp_live *live, uint32_t wait,
			  enum pmp_window window, bool found);
/* Of a thread: locations are those of all frames of its sample. */
uint32_t pmp_live_find_stack(struct pmp_live *live, const struct pmp_thread *thread,
			     const pmp_location *locations);

/* How long they are. */
extern const uint64_t pmp_live_window_times[PMP_WINDOW_COUNT];

/* ---- live-windows.c --------------------------------------------------------------- */

/* Of a process, a counter (found so often), a counter with a lock (ns). */
uint64_t pmp_live_samples(const struct pmp_live *live, uint32_t process,
			  enum pmp_window window);
uint64_t pmp_live_finds(const struct pmp_live *live, uint32_t counter,
			enum pmp_window window);
uint64_t pmp_live_delay(const struct pmp_live *live, uint32_t counter,
			enum pmp_window window);
/* Make room for a sample in the history: the windows end with it, and the oldest samples
 * leave them. 0 or PMP_ENOMEM. */
int pmp_live_make_room(struct pmp_live *live, const struct pmp_sample *sample);
/* So many more threads of a counter are counted in it before the window from now on. */
void pmp_live_enter(struct pmp_live *live, uint32_t counter, enum pmp_window window,
		    uint32_t threads);
/* The new number of each counter. */
void pmp_live_renumber_windows(struct pmp_live *live, const uint32_t *counters);

/* ---- live-merge.c ----------------------------------------------------------------- */

/* 0 or PMP_ENOMEM. */
int pmp_live_merge_if_full(struct pmp_live *live, uint64_t now);

/* ---- live-waits.c ----------------------------------------------------------------- */

/* Take up what thread i of the sample waits for. False: no memory. */
bool pmp_live_take_wait(struct pmp_live *live, uint32_t row, size_t i, uint64_t time);
/* passed: time since the process's last sample, if the thread was in that. */
void pmp_live_count_wait(struct pmp_live *live, const struct pmp_counted_counter *counter,
			 uint64_t passed, uint64_t time);
/* Keep what the sample has of other processes. 0 or PMP_ENOMEM. */
int pmp_live_keep_peers(struct pmp_live *live, const struct pmp_sample *sample);
/* Of a process; NULL: of all. */
void pmp_live_drop_peers(struct pmp_live *live, const pid_t *pid);
/* When all threads of a sample are counted. Returns the number of deadlocks. */
size_t pmp_live_connect(struct pmp_live *live, const struct pmp_sample *sample);

#endif
