/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpmp-program: what a program like pmp needs beyond libpmp.h. A live view reads counts
 * while counting goes on, and applies filters itself; a program that follows its targets'
 * children asks for new processes. Programs that embed the library only to count and write
 * stacks need none of this. The conventions are those of libpmp.h.
 */
#ifndef PMP_LIBPMP_PROGRAM_H
#define PMP_LIBPMP_PROGRAM_H

#include "libpmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- filters, applied by the program -------------------------------------- */

/** Returns the expressions of a kind joined into one, "(a)|(b)", or "". Borrowed. */
const char *pmp_filter_text(const struct pmp_filter *filter, enum pmp_filter_kind kind);

/*
 * For programs that show stacks themselves: get the marks of each function, combine those
 * of a stack, innermost first, then query the result. Without a filter (NULL) nothing is
 * hidden, but idle threads are still recognized.
 */
typedef unsigned pmp_marks;
enum { PMP_MARK_FOCUS = 16 }; /* a function matches PMP_FILTER_FOCUS */
/** Returns the marks of a function, whose names are as in struct pmp_frame_info. The name to
 * show is put into buffer, truncated if necessary. */
pmp_marks pmp_filter_function(const struct pmp_filter *filter, const char *function,
			      const char *readable, const char *module, char *buffer,
			      size_t size);
/** Returns whether a function with these marks is hidden. */
bool pmp_filter_is_hidden(pmp_marks marks);
/** Returns the marks of a stack, combined from those of its functions. */
pmp_marks pmp_filter_stack_marks(const pmp_marks *marks, size_t count);
/** Returns whether the stack is shown, regardless of whether its thread is idle. */
bool pmp_filter_passes(const struct pmp_filter *filter, pmp_marks stack);
/** Returns whether the thread waits for work. state as in proc(5); syscall: its name, or
 * "". */
bool pmp_filter_is_idle(pmp_marks stack, char state, const char *syscall);
/** Returns whether the thread waits for a lock, as far as function names tell. */
bool pmp_filter_is_locked(pmp_marks stack);
/** Returns whether the stack is trimmed to a function that matches
 * PMP_FILTER_TRIM_ROOT. */
bool pmp_filter_is_trimmed(pmp_marks stack);
/** Returns how many functions, counted from the innermost, are left after trimming. */
size_t pmp_filter_trim(const pmp_marks *marks, size_t count);
/**
 * With fold_recursion: from the root on, a sequence of up to 8 functions that repeats
 * immediately is kept once. functions holds numbers, equal ones for equal functions,
 * innermost first. Returns how many are left; their indices are put into left.
 */
size_t pmp_filter_fold(const struct pmp_filter *filter, const uint32_t *functions,
		       size_t count, uint32_t *left);
/** The group of a thread: its name as renamed by the filter, else with N for digits.
 * Returns buffer. */
char *pmp_filter_thread(const struct pmp_filter *filter, const char *name, char *buffer,
			size_t size);

/* ---- live: what a view shows -------------------------------------------- */

/*
 * For a profile made with options.live: every thread with what it was last seen doing, and
 * how often it was seen with each stack, since the start and in two time windows that end
 * now. All of it is borrowed until the next pmp_profile_add(). Memory is bounded: threads
 * that exited a while ago are merged; so are the least frequent stacks when there are too
 * many. pmp_live_info.merged counts what was merged. A saved profile that is read into it
 * counts only in the window since the start; its threads are all present, each with its
 * most frequent stack.
 */
struct pmp_live;

enum pmp_window {
	PMP_WINDOW_START, /* since the start */
	PMP_WINDOW_MINUTE,
	PMP_WINDOW_SECONDS, /* the last ten */
	PMP_WINDOW_COUNT    /* no struct depends on it, so that windows can be added */
};

struct pmp_live_info {
	size_t size;
	uint64_t time;	     /* CLOCK_MONOTONIC of the last sample */
	uint64_t merged;     /* stacks and threads not counted separately */
	uint64_t renumbered; /* increases when indices of stacks and locations change */
	uint64_t moved;	     /* increases when indices of threads and counters change */
};

struct pmp_live_window {
	size_t size;
	uint64_t samples; /* of all processes */
	uint64_t stacks;
	uint64_t span; /* ns actually covered */
};

struct pmp_live_process {
	size_t size;
	pid_t pid;
	const char *name; /* raw bytes */
	uint64_t samples; /* in the window that was asked for */
	/* The last sample, zero if there is none; its name is NULL, see name. Valid, like
	 * name, until another sample is counted. */
	const struct pmp_sample_info *last;
	size_t deadlocks; /* in it */
};

/* Who holds a lock, as far as known. */
enum pmp_held {
	PMP_HELD_UNKNOWN, /* or held by readers */
	PMP_HELD_FREE,	  /* it has just been released */
	PMP_HELD_BY_THREAD,
	PMP_HELD_BY_ITSELF,   /* the waiter holds it itself */
	PMP_HELD_BY_PROCESS,  /* another one */
	PMP_HELD_BEFORE_FORK, /* by the process that this one was forked from */
	PMP_HELD_BY_ENDED,    /* by a thread that has exited */
};

struct pmp_live_thread {
	size_t size;
	size_t process;	  /* index */
	pid_t tid;	  /* 0: threads that have exited, merged */
	const char *name; /* raw bytes */
	bool present;	  /* in the last sample of its process */
	char state;	  /* in its last sample, like what follows */
	enum pmp_obtained obtained;
	size_t stack;	     /* index */
	const char *reason;  /* why it was not stopped, or "" */
	const char *syscall; /* name of the call it sleeps in, or "" */
	uint64_t args[6];    /* of that call */
	bool waits_for_lock; /* as the lock's memory shows; false if only names do */
	const char *wchan;   /* where it sleeps in the kernel, or "" */
	uint64_t cpu;	     /* ns on a CPU since its start; 0: unknown */
	double cpu_share;    /* of one CPU, in the last second; < 0: unknown */
	double switches;     /* times put on a CPU per second, likewise */
	/* What it waits for, a lock or an event, and whom. */
	size_t lock;	    /* index; SIZE_MAX: unknown, and so is the rest */
	unsigned kind;	    /* of lock, for pmp_live_wait() */
	uint64_t object;    /* its address; for files the inode; 0: unknown */
	size_t holder;	    /* index of the thread that it waits for; SIZE_MAX: unknown */
	pid_t holder_tid;   /* 0: not known */
	enum pmp_held held; /* how */
	size_t outside;	    /* for pmp_live_outside(); SIZE_MAX: unknown */
	uint32_t readers;   /* that hold the lock */
	size_t behind;	 /* threads that wait for this one, directly or indirectly; in a
			  * deadlock it is one of them */
	bool queued;	 /* the holder is ahead of it in a queue, and also waits */
	bool timed;	 /* it waits with a timeout */
	bool deadlocked; /* the threads that it waits for also wait for it */
	bool moved_on;	 /* the holder's stack is from another moment: see
			  * PMP_WAIT_MOVED_ON */
	uint64_t waited; /* ns, at least */
	/* What several samples show about a lock; meaningless for events, because each one
	 * is new. */
	uint64_t found; /* ns during which every sample found it in this wait */
	size_t taker;	/* inferred: index of the thread that took the lock; SIZE_MAX:
			 * unknown */
	uint64_t taken; /* ns within which it did */
};

struct pmp_live_stack {
	size_t size;
	const pmp_location *locations; /* innermost first */
	size_t count;
	const char *end; /* why it does not reach its root, or "" */
};

/* How often a thread was seen with a stack, in a state. */
struct pmp_live_counter {
	size_t size;
	size_t thread, stack; /* indices */
	char state;
	bool waits_for_lock;	/* as above */
	const char *syscall;	/* most recently, or "" */
	uint64_t count;		/* in the requested window, like the rest */
	size_t lock;		/* index; SIZE_MAX: none */
	unsigned kind;		/* of it, as above */
	uint64_t delay;		/* ns, waiting for it */
	uint64_t longest;	/* ns, of one wait */
	uint64_t longest_found; /* the same of pmp_live_thread.found */
};

/* What threads have waited for. */
struct pmp_live_lock {
	size_t size;
	int moved; /* input: where the lock begins, see struct pmp_live_wait; or 0 */
	const char *kind;    /* "mutex", "condition"; of saved profiles raw */
	const char *meaning; /* of saved profiles: "metadata lock", raw; or "" */
	bool is_lock;	     /* as its memory shows; else an event, or unknown */
	uint64_t address;    /* 0: unknown, or several that are not counted separately */
	bool inode;	     /* the address is an inode: it is a file lock */
	const char *name;    /* with an offset, "mysql_bin_log+0x10"; "": none is known */
	const char *place;   /* where it lies, "in the heap"; "": unknown */
	pmp_location wanted; /* location whose name is still needed; PMP_LOCATION_NONE:
			      * none */
	const char *holder;  /* of saved profiles: who held it, raw; "": unknown */
};

/** Returns what is counted for a view; NULL without options.live. */
const struct pmp_live *pmp_profile_live(const struct pmp_profile *profile);
/** Fill *info, whose .size must be set. */
void pmp_live_info(const struct pmp_live *live, struct pmp_live_info *info);
/** Fill *counted, whose .size must be set, with the totals of one of the windows. */
void pmp_live_window(const struct pmp_live *live, enum pmp_window window,
		     struct pmp_live_window *counted);
/** These return the number of each; valid indices are below it. */
size_t pmp_live_process_count(const struct pmp_live *live);
size_t pmp_live_thread_count(const struct pmp_live *live);
size_t pmp_live_stack_count(const struct pmp_live *live);
size_t pmp_live_counter_count(const struct pmp_live *live);
size_t pmp_live_lock_count(const struct pmp_live *live);
/** i is below the respective count. Indices are stable, except that those of threads and
 * counters change when threads are merged (see pmp_live_info.moved), and all indices and
 * location numbers change when stacks are merged (see pmp_live_info.renumbered). */
void pmp_live_process(const struct pmp_live *live, size_t i, enum pmp_window window,
		      struct pmp_live_process *process);
void pmp_live_thread(const struct pmp_live *live, size_t i,
		     struct pmp_live_thread *thread);
void pmp_live_stack(const struct pmp_live *live, size_t i, struct pmp_live_stack *stack);
void pmp_live_counter(const struct pmp_live *live, size_t i, enum pmp_window window,
		      struct pmp_live_counter *counter);
/** Describe a lock, with names that the symbolizer has found so far, safe for a
 * terminal. Texts are put into buffer as far as there is room. Indices of locks
 * are stable. */
void pmp_live_lock(const struct pmp_live *live, const struct pmp_symbolizer *symbolizer,
		   size_t i, struct pmp_live_lock *lock, char *buffer, size_t size);

/* What a thread waits for outside its process: file locks, pipes, sockets, children,
 * System V semaphores; or a lock in shared memory, without text and brief. */
struct pmp_live_outside {
	size_t size;
	const char *text;  /* "flock zoo.lock, inode 5243021, held for writing" */
	const char *brief; /* "flock zoo.lock", "pipe 442102" */
	const char *who; /* "6330 "producer" can write (fd 4)"; or that this is unknown */
	pid_t pid;	 /* of the process that is waited for; 0: uncertain */
	const char *name; /* its name, or "" */
};

/** Describe pmp_live_thread.outside; the texts are put into buffer as far as there is
 * room, safe for a terminal. Returns false, and all texts are "", if nothing is known. */
bool pmp_live_outside(const struct pmp_live *live, size_t i,
		      struct pmp_live_outside *outside, char *buffer, size_t size);

/*
 * What the functions of a stack tell about a wait. The bytes of a lock distinguish some
 * kinds of locks, the functions that wait for it more.
 */
struct pmp_live_wait {
	size_t size;
	const char *kind;     /* "mutex", "Rust mutex"; "": unknown */
	const char *meaning;  /* its role in the program, "metadata lock"; or "" */
	const char *ask;      /* where to find the holder, "METADATA_LOCK_INFO"; or "" */
	const char *else_see; /* where to look if that is missing, "PROCESSLIST"; or "" */
	bool is_lock;	      /* a thread holds it; else an event */
	bool ends;	      /* the exit of another thread: is_lock, but no contention */
	bool vetoed;	/* not the kind of lock that the bytes suggest: no known holder */
	bool placeless; /* the address is not that of the object */
	int moved;	/* bytes from the address to the start of the object */
	bool final;	/* all functions that matter have names */
};

/* What is already known about functions for this. */
struct pmp_live_waits;

/** Use names of this symbolizer, and what the filter (which may be NULL) says about
 * functions; both are borrowed. NULL: no memory. To be freed with pmp_live_waits_free(),
 * which takes NULL. */
struct pmp_live_waits *pmp_live_waits_new(const struct pmp_symbolizer *symbolizer,
					  const struct pmp_filter *filter);
void pmp_live_waits_free(struct pmp_live_waits *waits);
/** Describe the wait of a thread that is blocked with this stack; kind: see
 * pmp_live_thread.kind. The texts are valid until the next call. Does not look up
 * names. */
void pmp_live_wait(struct pmp_live_waits *waits, const struct pmp_live *live,
		   size_t stack, unsigned kind, struct pmp_live_wait *wait);

/** Returns whether a function is internal to lock functions of the C library, so that only
 * its caller tells what a thread waits for. */
bool pmp_wait_is_internal(const char *function);

/* ---- its cost ------------------------------------------------------------------ */

/** Returns how many single stops took at most time ns; one that took up to 1/16 less may
 * be missing. */
uint64_t pmp_profile_stops_within(const struct pmp_profile *profile, uint64_t time);

/* ---- heaps ----------------------------------------------------------------------- */

struct pmp_heap_batch;

/** Send what was read from a recorder; returns as pmp_sender_sample(). */
int pmp_sender_heap(struct pmp_sender *sender, const struct pmp_heap_batch *batch,
		    struct pmp_error *err);
/*
 * A recorder: a library that is preloaded into a command, counts what it allocates, and
 * records some allocations, with their stacks, in memory shared with this process.
 */
struct pmp_recorder;

enum { PMP_RECORDED_MOST = 64 }; /* processes at a time */

struct pmp_recorder_options {
	size_t size;
	uint64_t rate;	    /* mean bytes between two samples; 0: every call */
	uint32_t max_stack; /* bytes copied from a stack */
	bool mmap;	    /* also the program's own mmap(), brk() and the like */
	bool children;	    /* also all descendants of the first process */
};

/** Returns 0 and sets *recorder, to be freed with pmp_recorder_free(), or an error. */
int pmp_recorder_new(const struct pmp_recorder_options *options,
		     struct pmp_recorder **recorder, struct pmp_error *err);
/**
 * The descriptors that a command must inherit: the shared memory, and the file to preload.
 * Both are borrowed and close-on-exec; the command needs the second one at the number
 * after the first.
 */
void pmp_recorder_descriptors(const struct pmp_recorder *recorder, int *memory,
			      int *file);
/** Set the process to record; others are recorded only with options.children. */
void pmp_recorder_expect(struct pmp_recorder *recorder, pid_t pid);
/**
 * Find the recorder of a process that was started by another pmp which has exited since.
 * rate: as in options, but ignored where every call is recorded. Returns 0 and sets
 * *recorder, to be freed with pmp_recorder_free(); PMP_EUNSUPPORTED: the process has none;
 * PMP_ELIMIT: another pmp reads it; or another error.
 */
int pmp_recorder_find(pid_t pid, uint64_t rate, struct pmp_recorder **recorder,
		      struct pmp_error *err);
/** Has any program loaded the recorder so far, and has the one that this process executes
 * now? */
bool pmp_recorder_is_loaded(const struct pmp_recorder *recorder, pid_t pid);
/** Halve the sampling rate from now on, unless every call is recorded. */
void pmp_recorder_slow_down(struct pmp_recorder *recorder);
/**
 * Double the sampling rate if it is below the requested one, unless too many samples came
 * since the previous call, or the ring was full. Call it about once a second.
 */
void pmp_recorder_speed_up(struct pmp_recorder *recorder);

struct pmp_recorder_calls {
	/** Returns the target of that process, or NULL to drop its records. */
	struct pmp_target *(*target)(void *arg, pid_t pid);
	/** Takes a batch, which is borrowed. */
	void (*take)(void *arg, const struct pmp_heap_batch *batch);
	void *arg;
	/** A target that has exited, so that its last batch can say so; 0: none. */
	pid_t ended;
	/** The position up to which its records are, for pmp_recorder_read(all); 0: unknown. */
	uint64_t written;
};

/** The position after all records that have been written so far. */
uint64_t pmp_recorder_written(struct pmp_recorder *recorder);
/** Have all records before that position been read? */
bool pmp_recorder_has_read(struct pmp_recorder *recorder, uint64_t end);

/**
 * Read at most a few thousand records, and pass them on as one batch for each process.
 * Call it every few milliseconds: if it is not called for a second, recording stops. all:
 * pass on all totals, and read what is left, up to calls->written without waiting for
 * incomplete records. Returns 1 if there is more, 0, or an error.
 */
int pmp_recorder_read(struct pmp_recorder *recorder,
		      const struct pmp_recorder_calls *calls, bool all,
		      struct pmp_error *err);
/** A process has exited, and no more of its records will come. */
void pmp_recorder_forget(struct pmp_recorder *recorder, pid_t pid);
/** Free a recorder; processes that have it loaded continue. Takes NULL. */
void pmp_recorder_free(struct pmp_recorder *recorder);

/** Can there be samples of that process? Returns 0, or PMP_EUNSUPPORTED: the program has a
 * malloc() of its own, or its allocator mixes the operators of C++ with malloc(), so there
 * are only totals. */
int pmp_heap_batch_check(const struct pmp_heap_batch *batch, struct pmp_error *err);
/** Returns the process that a batch belongs to. */
pid_t pmp_heap_batch_pid(const struct pmp_heap_batch *batch);
/** Free a received batch. Takes NULL. */
void pmp_heap_batch_free(struct pmp_heap_batch *batch);

/** Count a batch, with options.heap; it can be freed afterwards. Returns 0, PMP_ENOMEM, or
 * PMP_EINVAL: its numbers contradict each other. */
int pmp_profile_add_heap(struct pmp_profile *profile, const struct pmp_heap_batch *batch,
			 struct pmp_error *err);
/** A process continues, but its next sample does not follow the previous one: forget what
 * is kept for that. Its heap is still counted, unlike after pmp_profile_forget(). */
void pmp_profile_interrupt(struct pmp_profile *profile, pid_t pid);
/** Swap the heap counts of two profiles with the same symbolizer, because blocks live on
 * when a new profile starts. */
void pmp_profile_take_heap(struct pmp_profile *profile, struct pmp_profile *from);

/*
 * What a view shows of a heap that was recorded, or is in a saved profile; needs a profile
 * made with options.heap and .live. Stacks are those of the profile's pmp_live. Values of
 * stacks are estimates if blocks are sampled, and count requested sizes; the totals of
 * processes are exact, and count usable bytes. In windows other than PMP_WINDOW_START a
 * value is its change in the window, to within a second, or five for the minute.
 */
struct pmp_live_heap {
	size_t size;
	bool counts;	  /* options.heap is set */
	size_t processes; /* that are or were recorded; 0 in other programs' profiles */
	size_t stacks;	  /* that have allocated */
	bool ended;	  /* all processes have exited */
	bool totals_only; /* no stacks: it is unclear how their allocator counts */
	uint64_t rate; /* mean bytes between two samples, of any process; 0: every call */
	/* Exact, of all processes. */
	uint64_t live, live_blocks; /* now */
	uint64_t peak, peak_after;  /* the highest of a process, and when, in ns after its
				     * start */
	uint64_t allocated, freed, allocs, frees; /* bytes, calls: in the window */
	uint64_t span;				  /* ns that the window actually covers */
	uint64_t lost;				  /* records */
	uint64_t stackless;			  /* samples without a stack */
	uint64_t unrecorded;			  /* processes, for lack of room */
	uint64_t dropped, dropped_bytes; /* live blocks not shown, for lack of memory */
	/* Sums of the stacks. */
	double sum_blocks, sum_allocs;
	uint64_t sum_live, sum_allocated;
};

enum { PMP_LIVE_AGES = 6 }; /* of blocks: under 1 s, 10 s, 1 min, 10 min, 1 h, and more */

struct pmp_live_heap_stack {
	size_t size;
	size_t stack;	     /* index */
	pid_t pid;	     /* of its process */
	const char *process; /* raw bytes; valid until more is counted, like the next */
	const char *thread;  /* name of its group of threads; or "" */
	/* In the window; live may have decreased. */
	int64_t live, allocated; /* bytes */
	double blocks, allocs;	 /* live ones; allocated ones */
	/* Now, whatever the window is. */
	double live_error;  /* standard error of the live bytes; 0: they are exact */
	double alloc_error; /* the same for all allocated bytes */
	uint64_t oldest;    /* age of the oldest live block, ns; 0: unknown */
	uint64_t stays;	    /* bytes per second in blocks that reach an age of a minute */
	uint64_t age_bytes[PMP_LIVE_AGES];
	double age_blocks[PMP_LIVE_AGES];
};

/**
 * Update what the next function returns: sum up what is live at that time
 * (CLOCK_MONOTONIC), and fill *heap, whose .size must be set. Looks at all sampled live
 * blocks: 0.15 ms for 10,000 of them, 50 to 130 ms for a million.
 */
void pmp_profile_sum_heap(struct pmp_profile *profile, uint64_t now,
			  enum pmp_window window, struct pmp_live_heap *heap);
/**
 * Fill *stack, whose .size must be set; i is below pmp_live_heap.stacks. now and window as
 * above. Returns 0; PMP_EINVAL: there is no such stack (any more), or PMP_ENOMEM.
 */
int pmp_profile_heap_stack(struct pmp_profile *profile, size_t i, uint64_t now,
			   enum pmp_window window, struct pmp_live_heap_stack *stack);

/* ---- what a heap holds, by class --------------------------------------------------- */

/* The census of a sample with names; it may outlive the report and the profile. */
struct pmp_named_census;

struct pmp_named_census_info {
	size_t size;
	pid_t pid;
	const char *process;	 /* its name, raw bytes; valid as long as the census */
	uint64_t time, realtime; /* CLOCK_MONOTONIC and CLOCK_REALTIME at its start, ns */
	uint64_t duration, cpu;	 /* ns that the census took */
	size_t classes;
	/* Usable bytes of live blocks; of these, those in mappings of their own. */
	uint64_t blocks, bytes, mapped;
	uint64_t kept; /* freed bytes that are still kept by threads or in fastbins */
	uint64_t free; /* free, or not used so far */
	uint64_t arenas, heap_size; /* bytes of all of it, including headers */
	uint64_t swapped, unread;   /* bytes of that: not read, not understood */
	unsigned newer_glibc; /* minor number of a glibc 2.x that is newer than all known
			       * ones; or 0 */
};

/* Blocks of a class; without a class, of a size. */
struct pmp_named_class {
	size_t size;
	const char *name;	    /* safe for a terminal; "": no class */
	uint64_t smallest, largest; /* usable bytes of a block; 0: unknown */
	uint64_t blocks, bytes;
};

/**
 * Name the census of the sample in a report of a snapshot (options.snapshot). Looks up
 * names. Returns 0 and sets *named, to be freed with pmp_named_census_free(); PMP_EINVAL:
 * there is no census; or PMP_ENOMEM.
 */
int pmp_named_census_new(const struct pmp_report *report, struct pmp_named_census **named,
			 struct pmp_error *err);
/** Takes NULL. */
void pmp_named_census_free(struct pmp_named_census *named);
/** Fill *info, whose .size must be set. */
void pmp_named_census_info(const struct pmp_named_census *named,
			   struct pmp_named_census_info *info);
/** Fill *filled with class i, i below .classes; the one with the most bytes comes
 * first. */
void pmp_named_census_class(const struct pmp_named_census *named, size_t i,
			    struct pmp_named_class *filled);

/*
 * What each stack had allocated by one moment, and what of that was live. As .heap_since
 * in the options of a report, it limits the report to changes since then.
 */
struct pmp_heap_base;

/**
 * Keep what a recorder has recorded by now. now (CLOCK_MONOTONIC; 0: the time of the last
 * record) and age are as in a report. Returns 0 and sets *base, to be freed with
 * pmp_heap_base_free(), or to NULL if the profile counts no heap; or PMP_ENOMEM.
 */
int pmp_profile_heap_base(struct pmp_profile *profile, uint64_t now, uint64_t age,
			  struct pmp_heap_base **base, struct pmp_error *err);
/** Free it, before or after its profile, but after its reports. Takes NULL. */
void pmp_heap_base_free(struct pmp_heap_base *base);

/* Exact totals of a process that is or was recorded, in usable bytes. */
struct pmp_heap_info {
	size_t size;
	pid_t pid;
	const char *name; /* borrowed: raw bytes */
	bool ended;
	/* Since recording began, including programs before an exec. */
	uint64_t allocated, freed;
	/* Of its current program. */
	uint64_t live, live_blocks, peak;
	uint64_t calls; /* malloc() and all other calls that allocated */
	uint64_t frees, failed;
};

/** Fill *info, whose .size must be set, with the totals of process i. Returns false if
 * there is none. */
bool pmp_profile_heap_process(const struct pmp_profile *profile, size_t i,
			      struct pmp_heap_info *info);

/* ---- windows of the past ---------------------------------------------------- */

/*
 * For a profile made with options.history: what was counted in any part of the recorded
 * past, as a profile of its own. It uses the symbolizer of the profile, so reports and
 * writers treat it like any other.
 *
 * A window has the samples taken after .from and not after .to, each with the time and the
 * CPU time since the previous sample of its process. So adjacent windows add up: counts,
 * wall-clock times and waits of (a, b] and (b, c] together are those of (a, c], for each
 * stack; and so is the CPU time of each thread. How CPU time is divided among the stacks
 * that a thread was running with is determined in each window separately.
 */
struct pmp_window_options {
	size_t size;
	uint64_t from, to;   /* CLOCK_MONOTONIC, ns; .to 0: up to the last sample */
	pid_t pid;	     /* of this process only; 0: of all */
	const char *process; /* of processes of this name only; NULL: of all */
	/* As in pmp_profile_options; no more is counted separately than in the profile
	 * itself. */
	bool by_thread, details, times, for_filter, waits;
	bool groups; /* sum up the times of groups, with .details: pmp_profile_group() */
	bool last; /* only the last sample of each process, if it has not exited since */
};

/* What the history keeps, or what a window actually covers. */
struct pmp_covered {
	size_t size;
	uint64_t from, to; /* CLOCK_MONOTONIC, ns; the next window should begin at .to */
	uint64_t samples;  /* of all processes */
	uint64_t memory;   /* bytes that the history takes; of a window 0 */
	uint64_t rounds;   /* of a window: as in struct pmp_profile_info */
};

/** Fill *covered, whose .size must be set, with what the history covers. Returns false and
 * leaves it unchanged if there is none. */
bool pmp_profile_history(const struct pmp_profile *profile, struct pmp_covered *covered);
/**
 * Count a window of the past. It may be empty. *covered, whose .size must be set, is
 * filled with what it actually covers, 0 to 0 if nothing; NULL: not wanted.
 *
 * Numbers of locations that are in no stack any more are not reused while a window exists:
 * free it soon, with pmp_profile_free().
 *
 * Returns 0 and sets *window, or PMP_EINVAL (no history is kept), or PMP_ENOMEM.
 */
int pmp_profile_window(struct pmp_profile *profile,
		       const struct pmp_window_options *options,
		       struct pmp_profile **window, struct pmp_covered *covered,
		       struct pmp_error *err);

/*
 * Where the time of a group of threads of a process has gone, in thread-ns. Threads whose
 * names differ only in numbers form a group; groups beyond the first 63 of a process are
 * in "other". In a profile made with options.history and .details it is all time since the
 * start, and never decreases until the process has exited; in a window with .groups it is
 * the time covered.
 */
struct pmp_group_times {
	size_t size;
	pid_t pid;
	const char *process, *group; /* raw bytes */
	uint64_t run;		     /* CPU time */
	uint64_t ready;		     /* runnable: waiting for a processor */
	uint64_t lock;	/* with options.waits, and after pmp_profile_name_locks() */
	uint64_t disk;	/* in state D, or in a call such as fsync() */
	uint64_t sleep; /* everything else */
	/* The part of sleep that pmp_profile_name_locks() may still turn into lock, and
	 * all that it has moved from sleep to lock so far. */
	uint64_t unsure, moved;
};
/**
 * Use function names to recognize waits for locks whose bytes do not identify them, or
 * that are the program's own, such as metadata locks of MariaDB. filter: what is known
 * about further functions, or NULL. Call it each time before reading groups, because it
 * moves time from sleep to lock. Looks up names, which may read large files, once for each
 * stack. Samples may be added while the symbolizer has released its lock. Returns 0 or
 * PMP_ENOMEM.
 */
int pmp_profile_name_locks(struct pmp_profile *profile, const struct pmp_filter *filter);
/** Are there any stacks that pmp_profile_name_locks() has not looked at yet? */
bool pmp_profile_has_unnamed_locks(struct pmp_profile *profile);

/** Returns the number of groups, 0 if they are not summed up. */
size_t pmp_profile_group_count(const struct pmp_profile *profile);
/** Fill *times, whose size is given; i is below that number. Names are borrowed until more
 * is counted. */
void pmp_profile_group(const struct pmp_profile *profile, size_t i,
		       struct pmp_group_times *times);

/* ---- the page ------------------------------------------------------------------ */

/* Which part of a report's call tree a page gets. */
struct pmp_tree_options {
	size_t size;
	bool by_thread; /* separate threads, below the process, */
	bool by_group;	/* or groups of threads with similar names */
	bool lines;	/* names have file:line where known */
	bool module;	/* names have the module */
	unsigned px;  /* width in pixels: branches narrower than a quarter of a pixel are
		       * merged; 0: do not */
	size_t nodes; /* if there are more, the narrowest are merged; 0: 20,000 */
	/* Only one branch, given by the names of its nodes, beginning with the process:
	 * "demo;conn-N;main". "" and NULL: all. */
	const char *under;
};
/**
 * Write the tree as a JSON object, described in write/tree.h. It never contains what would
 * end an HTML element. Looks up names. Returns 0, PMP_EINVAL, PMP_ENOMEM, or PMP_EIO: the
 * sink has failed.
 */
int pmp_report_write_tree(const struct pmp_report *report,
			  const struct pmp_tree_options *options,
			  const struct pmp_sink *sink, struct pmp_error *err);
/**
 * Write what each thread of a report did, as a JSON array with a row for each: [pid, tid,
 * name, group, samples, times (us) or samples of the five states, most frequent stack], at
 * most 5000. Only the options by_thread and by_group matter. Returns as
 * pmp_report_write_tree().
 */
int pmp_report_write_threads(const struct pmp_report *report,
			     const struct pmp_tree_options *options,
			     const struct pmp_sink *sink, struct pmp_error *err);
/**
 * Write the locks that threads of a report waited for, as a JSON array with a row for
 * each, those with most samples first, at most 500: [kind and name, meaning, time (us) or
 * samples, samples, threads that waited, most frequent holder, samples in which that
 * thread held it, most frequent stack of waiters, stack that the holder had for longest
 * meanwhile, or ""]. Needs a profile with options.waits. Returns as
 * pmp_report_write_tree().
 */
int pmp_report_write_lock_rows(const struct pmp_report *report,
			       const struct pmp_tree_options *options,
			       const struct pmp_sink *sink, struct pmp_error *err);
/** Returns the text of "page.html", "page.css" or "page.js", which the format html
 * combines into one file; NULL: no such file. */
const char *pmp_page_file(const char *name);

/* ---- names at addresses ------------------------------------------------------ */

/*
 * Formats without names (gperf, contention) contain addresses, and a client may ask for
 * names afterwards. These are all addresses that a report would be written with.
 */
struct pmp_addresses;

/**
 * Find the addresses of all stacks of a report, which must outlive them and must not be
 * updated. Returns 0 and sets *addresses, to be freed with pmp_addresses_free(), or
 * PMP_ENOMEM.
 */
int pmp_addresses_new(const struct pmp_report *report, struct pmp_addresses **addresses,
		      struct pmp_error *err);
/** Free them. Takes NULL. */
void pmp_addresses_free(struct pmp_addresses *addresses);
/**
 * Returns the name of the function at an address, of inlined functions the outermost;
 * NULL: no stack has the address, or there is no name. For a caller the address may be the
 * return address, or, as some readers pass, one less. Looks up names, which may read large
 * files. Borrowed, as long as the report lives.
 */
const char *pmp_addresses_name(const struct pmp_addresses *addresses, uint64_t address);

/* ---- deadlocks -------------------------------------------------------------- */

/**
 * Describe deadlock i (from 0) of the last sample of a report made with options.snapshot,
 * in one line, safe for a terminal and truncated to size: its process, then who waits for
 * which lock and who holds it. Returns the number of threads in it; 0: there is no such
 * deadlock.
 */
size_t pmp_report_deadlock(const struct pmp_report *report, size_t i, char *text,
			   size_t size);
/**
 * Returns how many threads of that sample wait for something unknown, so that a deadlock
 * among them would be missed: in a core file that is truncated, omits memory, or is from
 * another machine. 0 for a live process.
 */
size_t pmp_report_unread_waits(const struct pmp_report *report);

/* ---- processes, values ---------------------------------------------------- */

/**
 * Make the calling thread run soon after it wakes even on a busy machine: it requests
 * short time slices, without getting more CPU time in total. Works for ordinary threads
 * since Linux 6.12; otherwise nothing changes.
 */
void pmp_run_soon(void);

/* New processes. */
struct pmp_procwatch;

struct pmp_new_process {
	pid_t pid, parent;
	pid_t session;	  /* the session leader */
	uint64_t started; /* as in struct pmp_target_options */
};

/** Watch for new processes. Returns 0 and sets *watch, to be freed with
 * pmp_procwatch_free(), or an error. */
int pmp_procwatch_new(struct pmp_procwatch **watch, struct pmp_error *err);
/**
 * Get live processes that are new since the last call, at the first call all; a few old
 * ones may be among them. Almost free if there are none. Returns 0 with *count of them in
 * *list, which the caller may modify until the next call, or an error.
 */
int pmp_procwatch_next(struct pmp_procwatch *watch, struct pmp_new_process **list,
		       size_t *count, struct pmp_error *err);
/**
 * Returns how many processes and threads, of any user, started and exited between two
 * calls and so were not reported; too many, if thousands started between two calls.
 */
uint64_t pmp_procwatch_unseen(const struct pmp_procwatch *watch);
/** Free it. Takes NULL. */
void pmp_procwatch_free(struct pmp_procwatch *watch);

/** Returns the process that a thread belongs to if its id is another one, else 0. */
pid_t pmp_thread_process(pid_t tid);
/**
 * Find out who may look at a process: *owner is the owner of its files in /proc, root if
 * only root may. Returns false if it has exited or is about to.
 */
bool pmp_process_owner(pid_t pid, uid_t *owner);

enum { PMP_VALUE_SIZE = 64 }; /* enough bytes for any value, with its NUL */
/**
 * Format a value in the unit of a saved profile for people: "1.50MB", "20ms", "17".
 * Returns buffer.
 */
char *pmp_format_value(uint64_t value, const char *unit, char *buffer, size_t size);

/* ---- files that another process reads --------------------------------------- */

/*
 * Executables, debug files and saved profiles may be crafted to attack their reader. A
 * program may use unprivileged processes ("namers") for them: a symbolizer then reads no
 * file itself, but sends descriptors to a namer and asks it for names; pmp_profile_read()
 * and pmp_core_open() send the descriptor of the profile or core to another one. Starting,
 * confining and ending namers is up to the program.
 */
struct pmp_namer_calls {
	/* Start a namer: returns a stream socket to a process that does what
	 * pmp_namer_wanted() says. Negative: failed, and no names are looked up from then
	 * on; -ECANCELED: because the program is exiting. */
	int (*start)(void *arg);
	/* The namer has been silent for ten seconds: is it computing? If not, it is given
	 * up. */
	bool (*works)(void *arg, int fd);
	/* End the namer, and close the socket. If it has failed, reason is a buffer of
	 * that size: fill in why, as in "was ended by signal 11 (Segmentation fault)".
	 * NULL: it is no longer needed. */
	void (*end)(void *arg, int fd, char *reason, size_t size);
	void *arg;
	/* A module has been read: failures before it and after it are not in a row. May be
	 * NULL. */
	void (*has_read)(void *arg);
};

/** Look up the names of all locations, so that a child of this process needs no more. */
void pmp_symbolizer_name_all(struct pmp_symbolizer *symbolizer);
/** Returns the number of locations; their numbers are below it. */
size_t pmp_symbolizer_location_count(const struct pmp_symbolizer *symbolizer);
/** Returns the number of locations that have no names yet. */
size_t pmp_symbolizer_unnamed(const struct pmp_symbolizer *symbolizer);
/** Are any of these in modules whose files have not been opened? Opening may take long. */
bool pmp_symbolizer_must_open(const struct pmp_symbolizer *symbolizer);
/** Until it is called with false, names are not looked up: missing ones are unknown. For
 * programs with several threads and a lock (see struct pmp_symbolizer_options): lets a
 * thread that holds the lock throughout read names while another one looks names up. */
void pmp_symbolizer_only_known(struct pmp_symbolizer *symbolizer, bool only_known);
/** Call it in a child of fork(): the symbolizer's namer belongs to the parent, so it is
 * not used from now on, and what has no name yet gets none. */
void pmp_symbolizer_leave_namer(struct pmp_symbolizer *symbolizer);

/** In a namer: waits for the first request, and returns which function to call. */
enum pmp_namer_work {
	PMP_NAMER_NO_WORK, /* none: the other end is closed */
	PMP_NAMER_NAMES,   /* pmp_namer_serve() */
	PMP_NAMER_PROFILE, /* pmp_profile_serve() */
	PMP_NAMER_CORE,	   /* pmp_core_serve() */
};
enum pmp_namer_work pmp_namer_wanted(int socket);

/** Answers the requests. */
struct pmp_namer;
struct pmp_namer_options {
	/* Called at each request, and whenever something is sent: for a time limit. */
	void (*working)(void *arg);
	void *arg;
};
/** socket: to the symbolizer. The options are copied. Returns 0 or PMP_ENOMEM. */
int pmp_namer_new(int socket, const struct pmp_namer_options *options,
		  struct pmp_namer **namer, struct pmp_error *err);
/** Answers until the other end closes. Large debug information is unpacked in threads. */
void pmp_namer_serve(struct pmp_namer *namer);
/** Reads one saved profile, and sends its contents to pmp_profile_read(). */
void pmp_profile_serve(int socket, const struct pmp_namer_options *options);
/** Reads one core file, and sends its contents to pmp_core_open(). */
void pmp_core_serve(int socket, const struct pmp_namer_options *options);
/** Takes NULL. */
void pmp_namer_free(struct pmp_namer *namer);
/** For a namer that cannot open files: get a .dwo file that libdw wants to open. Call it
 * within pmp_namer_serve(), in its thread. Returns a descriptor or a negative errno. */
int pmp_namer_open_split(struct pmp_namer *namer, const char *path);
/** Returns the path of a file that the namer was given, by its descriptor, or NULL. */
const char *pmp_namer_path(const struct pmp_namer *namer, int fd);
/** Returns the path of the module that the namer is working on, or NULL. */
const char *pmp_namer_module(const struct pmp_namer *namer);

#ifdef __cplusplus
}
#endif

#endif
