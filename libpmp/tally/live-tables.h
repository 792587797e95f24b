/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of struct pmp_live, shared by live-*.c. Processes, threads and counters (one
 * for each thread, stack and state) are identified by their index.
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
/* The longest window; threads that were not seen in it count as ended. */
#define PMP_LIVE_WINDOW_MAX (60 * PMP_S)
/* System calls of saved profiles have only names; they are given numbers from here on. */
#define PMP_LIVE_CALLS (1 << 20)
/* Limit for the history, in bytes; beyond it, windows become shorter. */
#define PMP_LIVE_HISTORY_SIZE (UINT64_C(32) << 20)

struct pmp_counted_process {
	pid_t pid; /* 0: processes that have ended */
	char name[PMP_NAME_SIZE];
	uint64_t seen; /* time of its last sample */
	uint64_t samples;
	struct {
		uint64_t samples, time; /* ns between them */
	} before[PMP_WINDOW_COUNT];	/* before each window */
	struct pmp_sample_info last;
	size_t deadlocks; /* in the last sample */
	bool ended;	  /* it is in ended_pids */
};

struct pmp_counted_thread {
	uint32_t process;
	pid_t tid; /* 0: threads that have ended */
	char name[PMP_NAME_SIZE];
	uint64_t seen;	  /* time of its last sample */
	uint64_t reading; /* of its stack in that sample */
	char state;
	enum pmp_obtained obtained;
	uint32_t counter; /* of its last sample */
	char reason[PMP_REASON_SIZE];
	char wchan[PMP_WCHAN_SIZE];
	int syscall;
	struct pmp_wait wait;
	uint32_t lock;	     /* that it waits for, or PMP_LOCK_NONE */
	uint32_t holder;     /* thread that it waits for, or PMP_INTERN_NONE */
	uint32_t behind;     /* threads that wait for this one, also indirectly */
	uint64_t wait_since; /* time of the first sample with this wait */
	/* Inferred from several samples, see tally/wait-history.h. */
	uint64_t found_since; /* all samples since then have found this wait */
	pid_t taker;	      /* the thread that has taken the lock, or 0 */
	uint64_t taken_after; /* time of the sample in which the taker still waited */
	uint64_t runs;
	uint64_t args[6];
	uint64_t cpu;
	uint64_t wall;				 /* of saved profiles */
	uint64_t mark_time, mark_cpu, mark_runs; /* where the measurement began */
	double cpu_share, switches;
};

/* The finds of a counter before a window: count + threads * before[].samples of its
 * process, modulo 2^32. So nothing needs updating while a thread stays in the counter. */
struct pmp_counted_before {
	uint32_t count;
	uint32_t threads; /* in the counter now; many if ended ones were merged */
};

struct pmp_counted_counter {
	uint32_t thread, stack;
	uint32_t lock; /* that it waited for, or PMP_LOCK_NONE */
	uint32_t wait; /* index in waits, or PMP_INTERN_NONE */
	int syscall;
	char state;
	uint64_t count;
	struct pmp_counted_before before[PMP_WINDOW_COUNT];
};

/* The waits of a counter with a lock; separate, as few counters have one. */
struct pmp_live_wait_times {
	uint64_t delay;			   /* ns spent waiting */
	uint64_t before[PMP_WINDOW_COUNT]; /* see struct pmp_counted_before */
	/* ns of one wait, since the start; found: only while all samples found the wait. */
	uint64_t longest, longest_found;
	struct pmp_longest longest_of[PMP_WINDOW_COUNT],
		longest_found_of[PMP_WINDOW_COUNT];
};

/* The keys of processes, threads and counters. */
struct pmp_process_key {
	pid_t pid;
	char name[PMP_NAME_SIZE]; /* zero unless pid is 0 or it is of a saved profile */
};

struct pmp_thread_key {
	uint32_t process;
	pid_t tid;
	char name[PMP_NAME_SIZE]; /* zero unless tid is 0 or it is of a saved profile */
};

struct pmp_counter_key {
	uint32_t thread, stack, state, lock;
};

/* Where a window begins in the history. */
struct pmp_live_tail {
	struct pmp_history_position at;
	/* The counter that each thread was in before that, or PMP_INTERN_NONE. */
	uint32_t *threads;
	size_t thread_count, thread_capacity;
	uint32_t process; /* guess: that of the last sample before it */
};

/* What threads of a process wait for outside of it, as found last. */
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
	struct pmp_intern *calls; /* system calls of saved profiles, or NULL */
	/* Processes that have ended since the last sample: the next one drops theirs. */
	pid_t *ended_pids;
	size_t ended_pid_count, ended_pid_capacity;
	struct pmp_counted_thread *threads;
	size_t thread_count, thread_capacity;
	size_t ended_count; /* of these, rows of merged threads that have ended */
	struct pmp_counted_counter *counters;
	size_t counter_count, counter_capacity;
	struct pmp_live_wait_times *waits;
	size_t wait_count, wait_capacity;
	struct pmp_locks *locks;	      /* that threads have waited for */
	struct pmp_sample_locks sample_locks; /* of the current sample */
	struct pmp_wait_histories histories;
	const struct pmp_wait_history *history; /* of the sample's process */
	struct pmp_live_peers *peers;		/* of processes that have any */
	size_t peer_count, peer_capacity;
	uint32_t *rows;	  /* of the sample's threads; beyond these, of earlier samples */
	size_t row_count; /* of valid ones */
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
	bool saved;	     /* entries of a saved profile were counted, no samples */
	uint64_t merge_time; /* do not merge before */
};

/* ---- live.c --------------------------------------------------------------------- */

/* Find, or add if missing; PMP_INTERN_NONE: out of memory. */
uint32_t pmp_live_find_process(struct pmp_live *live, const struct pmp_process_key *key);
uint32_t pmp_live_find_thread(struct pmp_live *live, const struct pmp_thread_key *key);
uint32_t pmp_live_find_counter(struct pmp_live *live,
			       const struct pmp_counted_counter *like);
/* The longest wait of a counter, in ns; found: only while all samples found the wait. */
uint64_t pmp_live_longest(const struct pmp_live *live, uint32_t wait,
			  enum pmp_window window, bool found);
/* Find or add the stack of a thread; locations: of all frames of its sample. */
uint32_t pmp_live_find_stack(struct pmp_live *live, const struct pmp_thread *thread,
			     const pmp_location *locations);

/* The lengths of the windows, ns. */
extern const uint64_t pmp_live_window_times[PMP_WINDOW_COUNT];

/* ---- live-windows.c --------------------------------------------------------------- */

/* In a window: samples of a process; finds of a counter; ns waited, of one with a lock. */
uint64_t pmp_live_samples(const struct pmp_live *live, uint32_t process,
			  enum pmp_window window);
uint64_t pmp_live_finds(const struct pmp_live *live, uint32_t counter,
			enum pmp_window window);
uint64_t pmp_live_delay(const struct pmp_live *live, uint32_t counter,
			enum pmp_window window);
/* Make room for a sample in the history. The windows will end with it, so the oldest
 * samples leave them. 0 or PMP_ENOMEM. */
int pmp_live_make_room(struct pmp_live *live, const struct pmp_sample *sample);
/* From now on, count so many more threads in a counter before the window. */
void pmp_live_enter(struct pmp_live *live, uint32_t counter, enum pmp_window window,
		    uint32_t threads);
/* Counter i becomes counter counters[i]. */
void pmp_live_renumber_windows(struct pmp_live *live, const uint32_t *counters);

/* ---- live-merge.c ----------------------------------------------------------------- */

/* 0 or PMP_ENOMEM. */
int pmp_live_merge_if_full(struct pmp_live *live, uint64_t now);

/* ---- live-waits.c ----------------------------------------------------------------- */

/* Set what thread i of the sample, in that row, waits for. False: out of memory. */
bool pmp_live_take_wait(struct pmp_live *live, uint32_t row, size_t i, uint64_t time);
/* passed: time since the process's last sample; 0 if the thread was not in that. */
void pmp_live_count_wait(struct pmp_live *live, const struct pmp_counted_counter *counter,
			 uint64_t passed, uint64_t time);
/* Keep what the sample says about other processes. 0 or PMP_ENOMEM. */
int pmp_live_keep_peers(struct pmp_live *live, const struct pmp_sample *sample);
/* Drop what was kept for a process; NULL: for all. */
void pmp_live_drop_peers(struct pmp_live *live, const pid_t *pid);
/* Connect waiting threads with holders when all threads of a sample are counted. Returns
 * the number of deadlocks. */
size_t pmp_live_connect(struct pmp_live *live, const struct pmp_sample *sample);

#endif
