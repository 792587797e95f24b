/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpmp-program: what a program like pmp needs beyond libpmp.h. A live view asks for what
 * was counted while it is counted, and filters it by itself; a program that follows its
 * targets' children asks for new processes. Whoever embeds the library to count and to
 * write stacks needs none of this. The conventions are those of libpmp.h.
 */
#ifndef PMP_LIBPMP_PROGRAM_H
#define PMP_LIBPMP_PROGRAM_H

#include "libpmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- filters, applied by the program -------------------------------------- */

/** Returns the expressions of a kind as one, "(a)|(b)", or "". Borrowed. */
const char *pmp_filter_text(const struct pmp_filter *filter, enum pmp_filter_kind kind);

/*
 * For programs that show stacks by themselves. First each function of a stack is
 * looked at, which gives its marks; those of a stack are made of them, innermost
 * first, and then asked. Without a filter (NULL) nothing is hidden; what is idle is
 * known all the same.
 */
typedef unsigned pmp_marks;
enum { PMP_MARK_FOCUS = 16 }; /* what PMP_FILTER_FOCUS wants is there */
/** Returns the marks of a function. The name to show is put into buffer (cut off when it
 * is longer). */
pmp_marks pmp_filter_function(const struct pmp_filter *filter, const char *function,
			      const char *module, char *buffer, size_t size);
/** Returns whether a function of these marks is left out. */
bool pmp_filter_is_hidden(pmp_marks marks);
/** Returns the marks of a stack, made of those of its functions. */
pmp_marks pmp_filter_stack_marks(const pmp_marks *marks, size_t count);
/** Returns whether the stack is shown. Whether its thread is idle is asked apart. */
bool pmp_filter_passes(const struct pmp_filter *filter, pmp_marks stack);
/** Returns whether the thread waits for work. state as in proc(5); syscall: its name, or
 * "". */
bool pmp_filter_is_idle(pmp_marks stack, char state, const char *syscall);
/** Returns whether it waits for a lock, as far as names of functions tell. */
bool pmp_filter_is_locked(pmp_marks stack);
/** Returns whether it is shown from a function on that PMP_FILTER_TRIM_ROOT wants. */
bool pmp_filter_is_trimmed(pmp_marks stack);
/** Returns how many functions, counted from the innermost, are left then; else all. */
size_t pmp_filter_trim(const pmp_marks *marks, size_t count);
/**
 * With fold_recursion: from the root on, up to 8 functions that are directly followed
 * by the same ones become these. functions are numbers, equal ones for equal functions,
 * innermost first. Returns how many are left; their indices are put into left.
 */
size_t pmp_filter_fold(const struct pmp_filter *filter, const uint32_t *functions,
		       size_t count, uint32_t *left);
/** The group of a thread: renamed by the filter, else with N for digits. Returns buffer. */
char *pmp_filter_thread(const struct pmp_filter *filter, const char *name, char *buffer,
			size_t size);

/* ---- live: what a view shows -------------------------------------------- */

/*
 * Of a profile made with options.live: every thread with what it was last seen
 * doing, and how often it was seen with each stack, since the start and in two
 * windows of time that end now. All of it is borrowed until the next
 * pmp_profile_add(). Memory is bounded: threads that ended a while ago are put
 * together; so are the stacks that are counted least, when there are too many. What is
 * not counted apart is in pmp_live_info.merged.
 * A saved profile that is read into such a profile is counted since the start only;
 * its threads are all present, each with what it was found at most often.
 */
struct pmp_live;

enum pmp_window {
	PMP_WINDOW_START, /* since the start */
	PMP_WINDOW_MINUTE,
	PMP_WINDOW_SECONDS, /* the last ten */
	PMP_WINDOW_COUNT    /* not part of any struct: there may be more of them */
};

struct pmp_live_info {
	size_t size;
	uint64_t time;	     /* CLOCK_MONOTONIC of the last sample */
	uint64_t merged;     /* stacks and threads not kept apart */
	uint64_t renumbered; /* grows when indices of stacks and locations change */
	uint64_t moved;	     /* grows when indices of threads and counters change */
};

struct pmp_live_window {
	size_t size;
	uint64_t samples; /* of all processes */
	uint64_t stacks;
	uint64_t span; /* ns that it really covers */
};

struct pmp_live_process {
	size_t size;
	pid_t pid;
	const char *name; /* raw bytes */
	uint64_t samples; /* in the window that was asked for */
	/* The last one, zero if there is none; its name is NULL, see name. Valid, as name
	 * is, until another sample is counted. */
	const struct pmp_sample_info *last;
	size_t deadlocks; /* in it */
};

/* What is known of who holds a lock. */
enum pmp_held {
	PMP_HELD_UNKNOWN, /* or by readers */
	PMP_HELD_FREE,	  /* it has been released just now */
	PMP_HELD_BY_THREAD,
	PMP_HELD_BY_ITSELF,   /* who waits for it */
	PMP_HELD_BY_PROCESS,  /* another one */
	PMP_HELD_BEFORE_FORK, /* by the process that this one was forked from */
	PMP_HELD_BY_ENDED,    /* a thread that has ended */
};

struct pmp_live_thread {
	size_t size;
	size_t process;	  /* index */
	pid_t tid;	  /* 0: threads that have ended, put together */
	const char *name; /* raw bytes */
	bool present;	  /* in the last sample of its process */
	char state;	  /* of its last sample, and so is what follows */
	enum pmp_obtained obtained;
	size_t stack;	     /* index */
	const char *reason;  /* why it was not stopped, or "" */
	const char *syscall; /* name of the call that it sleeps in, or "" */
	uint64_t args[6];    /* of that call */
	bool waits_for_lock; /* which its memory shows; not if only names do */
	const char *wchan;   /* where it sleeps in the kernel, or "" */
	uint64_t cpu;	     /* ns on a CPU since it began; 0: unknown */
	double cpu_share;    /* of one CPU, in the last second; < 0: unknown */
	double switches;     /* times put on a CPU a second, likewise */
	/* What it waits for, a lock or an event, and for whom. */
	size_t lock;	  /* index; SIZE_MAX: nothing known, which the rest is about */
	unsigned kind;	  /* of it, for pmp_live_wait() */
	uint64_t object;  /* its address, of files their inode; 0: unknown */
	size_t holder;	  /* index of the thread that it waits for; SIZE_MAX: not known */
	pid_t holder_tid; /* 0: not known */
	enum pmp_held held; /* how */
	size_t outside;	  /* for pmp_live_outside(); SIZE_MAX: nothing is known of that */
	uint32_t readers; /* that hold it */
	size_t behind;	 /* threads that wait for this one, directly or not; in a deadlock
			* it is one of them */
	bool queued;	 /* the holder is before it in a queue, and waits as well */
	bool timed;	 /* it waits with a timeout */
	bool deadlocked; /* the threads that it waits for wait for it */
	bool moved_on; /* the holder's stack is of another moment: see PMP_WAIT_MOVED_ON */
	uint64_t waited; /* ns, at least */
	/* What several samples say of a lock; by an event, of which each is another one, it
	 * means nothing. */
	uint64_t found; /* ns for which all of them have found it in this wait */
	size_t taker; /* inferred: index of the thread that has taken it; SIZE_MAX: not known */
	uint64_t taken; /* ns within which it has */
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
	uint64_t count;		/* in the window that was asked for, and so is the rest */
	size_t lock;		/* index; SIZE_MAX: none */
	unsigned kind;		/* of it, as above */
	uint64_t delay;		/* ns, waiting for it */
	uint64_t longest;	/* ns, of one wait */
	uint64_t longest_found; /* the same, as pmp_live_thread.found is */
};

/* What threads have waited for. */
struct pmp_live_lock {
	size_t size;
	int moved; /* to be given: where it begins, see struct pmp_live_wait; or 0 */
	const char *kind;    /* "mutex", "condition"; of saved profiles raw */
	const char *meaning; /* of saved profiles: "metadata lock", raw; or "" */
	bool is_lock;	     /* as its memory shows; else an event, or unknown */
	uint64_t address; /* 0: not known, or there are several that are not kept apart */
	bool inode;	  /* that is what the address is: it is a lock of a file */
	const char *name; /* with an offset, "mysql_bin_log+0x10"; "": none is known */
	const char *place;   /* where it lies, "in the heap"; "": unknown */
	pmp_location wanted; /* to be named for that; PMP_LOCATION_NONE: nothing */
	const char *holder;  /* of saved profiles: who held it, raw; "": not known */
};

/** Returns what is counted for a view; NULL without options.live. */
const struct pmp_live *pmp_profile_live(const struct pmp_profile *profile);
/** Fill *info, whose size is given. */
void pmp_live_info(const struct pmp_live *live, struct pmp_live_info *info);
/** What was counted in one of the windows. */
void pmp_live_window(const struct pmp_live *live, enum pmp_window window,
		     struct pmp_live_window *counted);
/** These return how many there are of each: numbers below that are indices. */
size_t pmp_live_process_count(const struct pmp_live *live);
size_t pmp_live_thread_count(const struct pmp_live *live);
size_t pmp_live_stack_count(const struct pmp_live *live);
size_t pmp_live_counter_count(const struct pmp_live *live);
size_t pmp_live_lock_count(const struct pmp_live *live);
/** Each i below its count. Indices stay, but those of threads and counters change when
 * threads are put together, which pmp_live_info.moved shows, and all of them, with the
 * numbers of locations, when stacks are: pmp_live_info.renumbered. */
void pmp_live_process(const struct pmp_live *live, size_t i, enum pmp_window window,
		      struct pmp_live_process *process);
void pmp_live_thread(const struct pmp_live *live, size_t i,
		     struct pmp_live_thread *thread);
void pmp_live_stack(const struct pmp_live *live, size_t i, struct pmp_live_stack *stack);
void pmp_live_counter(const struct pmp_live *live, size_t i, enum pmp_window window,
		      struct pmp_live_counter *counter);
/** What a lock is called, put into buffer as far as there is room: names that the
 * symbolizer has found so far, fit for a terminal. Indices of locks stay. */
void pmp_live_lock(const struct pmp_live *live, const struct pmp_symbolizer *symbolizer,
		   size_t i, struct pmp_live_lock *lock, char *buffer, size_t size);

/* What a thread waits for outside of its process: locks of files, pipes, sockets,
 * children, semaphores of System V; or a lock in shared memory, without text and brief. */
struct pmp_live_outside {
	size_t size;
	const char *text;  /* "flock zoo.lock, inode 5243021, held for writing" */
	const char *brief; /* "flock zoo.lock", "pipe 442102" */
	const char *who; /* "6330 "producer" can write (fd 4)"; or that it is not known */
	pid_t pid;	 /* of the process that is waited for; 0: not known for certain */
	const char *name; /* its name, or "" */
};

/** Of pmp_live_thread.outside; the texts are put into buffer as far as there is room, fit
 * for a terminal. False, and all texts "": nothing is known. */
bool pmp_live_outside(const struct pmp_live *live, size_t i,
		      struct pmp_live_outside *outside, char *buffer, size_t size);

/*
 * What the functions of a stack say of a wait. The bytes of a lock tell some kinds of
 * locks apart, the functions that wait for it more.
 */
struct pmp_live_wait {
	size_t size;
	const char *kind;     /* "mutex", "Rust mutex"; "": it waits for nothing known */
	const char *meaning;  /* what it is to the program, "metadata lock"; or "" */
	const char *ask;      /* what knows the holder, "METADATA_LOCK_INFO"; or "" */
	const char *else_see; /* that may not be there, this is: "PROCESSLIST"; or "" */
	bool is_lock;	      /* which a thread holds; else an event */
	bool ends;	      /* the end of another thread: is_lock, but no contention */
	bool vetoed; /* it is no lock of the kind that the bytes show: no holder is known */
	bool placeless; /* the address is not that of the object */
	int moved;	/* bytes from the address to where the object begins */
	bool final;	/* all of the functions that are asked have names */
};

/* What has been found out about functions for that. */
struct pmp_live_waits;

/** Functions as the symbolizer names them, and what the filter (which may be NULL) says of
 * them; both are borrowed. NULL: no memory. To be freed with pmp_live_waits_free(), which
 * takes NULL. */
struct pmp_live_waits *pmp_live_waits_new(const struct pmp_symbolizer *symbolizer,
					  const struct pmp_filter *filter);
void pmp_live_waits_free(struct pmp_live_waits *waits);
/** Of a thread with a stack that is blocked, and waits for something of that kind: see
 * pmp_live_thread.kind. The texts are valid until the next call. Names that are not there
 * yet are not looked up. */
void pmp_live_wait(struct pmp_live_waits *waits, const struct pmp_live *live,
		   size_t stack, unsigned kind, struct pmp_live_wait *wait);

/** Returns whether a function is inside of a lock function of the C library: which one a
 * thread waits in, says the one that calls it. */
bool pmp_wait_is_internal(const char *function);

/* ---- its cost ------------------------------------------------------------------ */

/** How many single stops took at most so long (ns); one that took up to 1/16 less may be left
 * out. */
uint64_t pmp_profile_stops_within(const struct pmp_profile *profile, uint64_t time);

/* ---- heaps ----------------------------------------------------------------------- */

struct pmp_heap_batch;

/** Send what was read of a recorder, as pmp_sender_sample() does a sample. */
int pmp_sender_heap(struct pmp_sender *sender, const struct pmp_heap_batch *batch,
		    struct pmp_error *err);
/*
 * A recorder: a library that is preloaded into a command, counts what it allocates, and
 * writes down some of it, with stacks, in memory that is shared with this process.
 */
struct pmp_recorder;

enum { PMP_RECORDED_MOST = 64 }; /* processes at a time */

struct pmp_recorder_options {
	size_t size;
	uint64_t rate;	    /* mean bytes between two samples; 0: every call */
	uint32_t max_stack; /* bytes that are copied of a stack */
	bool mmap;	    /* mmap(), brk() and their like of the program's own, too */
	bool children;	    /* of all processes that descend from the first one */
};

/** Returns 0 with *recorder, which is to be freed with pmp_recorder_free(), or an error. */
int pmp_recorder_new(const struct pmp_recorder_options *options,
		     struct pmp_recorder **recorder, struct pmp_error *err);
/**
 * What a command has to inherit: the shared memory, and the file to preload. Both are
 * borrowed and close at an exec; it needs the second one at the number after the first.
 */
void pmp_recorder_descriptors(const struct pmp_recorder *recorder, int *memory,
			      int *file);
/** Which process is to be recorded; others only if children are. */
void pmp_recorder_expect(struct pmp_recorder *recorder, pid_t pid);
/**
 * The recorder of a process that another pmp has started, and that has ended since. rate: as
 * in options; where every call is recorded it stays so. Returns 0 with *recorder, which is to
 * be freed with pmp_recorder_free(); PMP_EUNSUPPORTED: it has none; PMP_ELIMIT: another pmp
 * reads it; or another error.
 */
int pmp_recorder_find(pid_t pid, uint64_t rate, struct pmp_recorder **recorder,
		      struct pmp_error *err);
/** Has any program loaded it so far, and has the one that this process executes now? */
bool pmp_recorder_is_loaded(const struct pmp_recorder *recorder, pid_t pid);
/** Have only half as many samples taken from now on; not where every call is recorded. */
void pmp_recorder_slow_down(struct pmp_recorder *recorder);
/**
 * As many as were asked for, if fewer are taken: twice as many now, unless too many came since
 * the call before, or the ring was filled. To be called about once a second.
 */
void pmp_recorder_speed_up(struct pmp_recorder *recorder);

struct pmp_recorder_calls {
	/** The target of that process, or NULL: its records are dropped. */
	struct pmp_target *(*target)(void *arg, pid_t pid);
	/** Takes a batch, which is borrowed. */
	void (*take)(void *arg, const struct pmp_heap_batch *batch);
	void *arg;
	/** A target that has ended, which its last batch says; 0: none has. */
	pid_t ended;
};

/**
 * Read what has been written down, at most a few thousand records, and give it on as one
 * batch for each process. To be called every few milliseconds: without that for a second no
 * more is written down. all: of processes that have ended, too, what is not complete will
 * never be. Returns 1 if there is more, 0, or an error.
 */
int pmp_recorder_read(struct pmp_recorder *recorder,
		      const struct pmp_recorder_calls *calls, bool all,
		      struct pmp_error *err);
/** A process has ended, and nothing of it will come any more. */
void pmp_recorder_forget(struct pmp_recorder *recorder, pid_t pid);
/** Free a recorder; what it is in goes on. Takes NULL. */
void pmp_recorder_free(struct pmp_recorder *recorder);

/** Are there samples of that process? PMP_EUNSUPPORTED with err filled: its allocator mixes
 * the operators of C++ with malloc(), so that it is only counted. Else 0. */
int pmp_heap_batch_check(const struct pmp_heap_batch *batch, struct pmp_error *err);
/** Returns the process that a batch is of. */
pid_t pmp_heap_batch_pid(const struct pmp_heap_batch *batch);
/** Free what a receiver has got. Takes NULL. */
void pmp_heap_batch_free(struct pmp_heap_batch *batch);

/** Count a batch, if options.heap wants that; it can be freed afterwards. Returns 0,
 * PMP_ENOMEM, or PMP_EINVAL: its numbers contradict each other. */
int pmp_profile_add_heap(struct pmp_profile *profile, const struct pmp_heap_batch *batch,
			 struct pmp_error *err);
/** Take over what another profile with the same symbolizer has counted of heaps, which
 * gets what this one had: blocks live on when a new profile starts. */
void pmp_profile_take_heap(struct pmp_profile *profile, struct pmp_profile *from);

/*
 * What a view shows of a heap that was recorded, or is in a saved profile: of a profile made
 * with options.heap and .live. Stacks are those of the profile's pmp_live. Values of stacks
 * are estimates where blocks are chosen, and sizes those that were asked for; the totals of
 * processes are exact, and of usable bytes. With a window of time other than
 * PMP_WINDOW_START a value is by how much it has changed since, to within a second, or, of a
 * minute, five.
 */
struct pmp_live_heap {
	size_t size;
	bool counts;	  /* a recorder is asked for: options.heap */
	size_t processes; /* that are or were recorded; of other programs' profiles 0 */
	size_t stacks;	  /* that have allocated */
	bool ended;	  /* all processes have */
	bool totals_only; /* no stacks: how their allocator counts is not clear */
	uint64_t rate; /* mean bytes between two samples, of any process; 0: every call */
	/* Exact, of all processes. */
	uint64_t live, live_blocks; /* now */
	uint64_t peak, peak_after;  /* the largest of a process, and ns after its start */
	uint64_t allocated, freed, allocs, frees; /* bytes, calls: in the window */
	uint64_t span;				  /* ns that the window really covers */
	uint64_t lost;				  /* records */
	uint64_t stackless;			  /* samples without a stack */
	uint64_t unrecorded;			  /* processes, for want of a place */
	uint64_t dropped,
		dropped_bytes; /* blocks that live but are not shown, for want of
					  * memory */
	/* Sums of the stacks. */
	double sum_blocks, sum_allocs;
	uint64_t sum_live, sum_allocated;
};

enum { PMP_LIVE_AGES = 6 }; /* of blocks: under 1 s, 10 s, 1 min, 10 min, 1 h, and more */

struct pmp_live_heap_stack {
	size_t size;
	size_t stack;	     /* index */
	pid_t pid;	     /* of its process */
	const char *process; /* raw bytes; valid until more is counted, as the next */
	const char *thread;  /* name of its group of threads; or "" */
	/* In the window; what lives may have become less. */
	int64_t live, allocated; /* bytes */
	double blocks, allocs;	 /* that live; that were allocated */
	/* Now, whatever the window is. */
	double live_error;  /* standard error of the bytes that live; 0: they are exact */
	double alloc_error; /* the same of all that were allocated */
	uint64_t oldest;    /* age of the oldest that lives, ns; 0: not known */
	uint64_t stays;	    /* bytes a second of blocks that become a minute old */
	uint64_t age_bytes[PMP_LIVE_AGES];
	double age_blocks[PMP_LIVE_AGES];
};

/**
 * Bring up to date what the next function gives: sum up what lives at that time
 * (CLOCK_MONOTONIC), and fill *heap, whose size is given. Looks at all blocks that were
 * chosen and live: 0.15 ms for 10,000 of them, 50 to 130 ms for a million.
 */
void pmp_profile_sum_heap(struct pmp_profile *profile, uint64_t now,
			  enum pmp_window window, struct pmp_live_heap *heap);
/**
 * Fill *stack, whose size is given: i is below pmp_live_heap.stacks. now and window as above.
 * Returns 0; PMP_EINVAL: there is no such stack (any more), or PMP_ENOMEM.
 */
int pmp_profile_heap_stack(struct pmp_profile *profile, size_t i, uint64_t now,
			   enum pmp_window window, struct pmp_live_heap_stack *stack);

/* ---- what a heap holds, by class --------------------------------------------------- */

/* The census of a sample with its names; it needs neither the report nor the profile. */
struct pmp_named_census;

struct pmp_named_census_info {
	size_t size;
	pid_t pid;
	const char *process;	 /* its name, raw bytes; valid as long as the census */
	uint64_t time, realtime; /* CLOCK_MONOTONIC and CLOCK_REALTIME at its start, ns */
	uint64_t duration, cpu;	 /* ns that it took */
	size_t classes;
	/* Usable bytes of blocks that live; of these, those in mappings of their own. */
	uint64_t blocks, bytes, mapped;
	uint64_t kept; /* bytes that were freed, but are kept by threads or in fastbins */
	uint64_t free; /* free, or not used so far */
	uint64_t arenas, heap_size; /* bytes of all of it, headers as well */
	uint64_t swapped, unread;   /* bytes of that: not read, not understood */
	unsigned
		newer_glibc; /* 2.this is later than those that are known; 0: it is not */
};

/* Blocks of a class; or without one, of a size. */
struct pmp_named_class {
	size_t size;
	const char *name;	    /* fit for a terminal; "": they have no class */
	uint64_t smallest, largest; /* usable bytes of a block; 0: not known */
	uint64_t blocks, bytes;
};

/**
 * Of a report of a snapshot (options.snapshot) of a sample that has a census: names are looked
 * up now. Returns 0 with *named, which is to be freed; PMP_EINVAL: it has none, or
 * PMP_ENOMEM.
 */
int pmp_named_census_new(const struct pmp_report *report, struct pmp_named_census **named,
			 struct pmp_error *err);
/** Takes NULL. */
void pmp_named_census_free(struct pmp_named_census *named);
/** Fill *info. */
void pmp_named_census_info(const struct pmp_named_census *named,
			   struct pmp_named_census_info *info);
/** Fill *filled, i below .classes: the one with the most bytes first. */
void pmp_named_census_class(const struct pmp_named_census *named, size_t i,
			    struct pmp_named_class *filled);

/*
 * What each stack had allocated at one moment, and what of that lived. Options of a report
 * have it as .heap_since: it is of what has changed since.
 */
struct pmp_heap_base;

/**
 * Keep what a recorder has written down by now. now (CLOCK_MONOTONIC, 0: that of what was
 * heard last) and age are as those of a report. Returns 0 with *base, which is to be freed
 * with pmp_heap_base_free() and is NULL if the profile counts no heap; or PMP_ENOMEM.
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
	/* Since it was recorded first, programs before an exec included. */
	uint64_t allocated, freed;
	/* Of its program now. */
	uint64_t live, live_blocks, peak;
	uint64_t calls; /* malloc(), and whatever else has allocated */
	uint64_t frees, failed;
};

/** Fill info with the totals of process i. Returns false: there are not so many. */
bool pmp_profile_heap_process(const struct pmp_profile *profile, size_t i,
			      struct pmp_heap_info *info);

/* ---- windows of the past ---------------------------------------------------- */

/*
 * Of a profile made with options.history: what was counted in any part of the past that is
 * kept, as a profile of its own. Names, modules and locations are those of the one
 * symbolizer, so reports and writers take it as they take any other.
 *
 * A window has the samples that were taken after .from, and not after .to, each with the
 * time and the CPU time since the sample of its process before it. So what touches adds up:
 * counts, wall-clock times and waits of (a, b] and (b, c] together are those of (a, c], stack
 * by stack; and so is the CPU time of each thread. How that is divided among the stacks that
 * the thread was found running with is asked of each window by itself.
 */
struct pmp_window_options {
	size_t size;
	uint64_t from, to;   /* CLOCK_MONOTONIC, ns; .to 0: up to the last sample */
	pid_t pid;	     /* of this process only; 0: of all */
	const char *process; /* of processes of this name only; NULL: of all */
	/* As in pmp_profile_options; no more is kept apart than in the profile itself. */
	bool by_thread, details, times, for_filter, waits;
	bool groups; /* sum up the times of groups, with .details: pmp_profile_group() */
	bool last;   /* of each process only its last sample, if it has not ended since */
};

/* What is kept, or what a window has really covered. */
struct pmp_covered {
	size_t size;
	uint64_t from,
		to; /* CLOCK_MONOTONIC, ns: where the next window is to begin is .to */
	uint64_t samples; /* of all processes */
	uint64_t memory;  /* bytes that the past takes; of a window 0 */
	uint64_t rounds;  /* of a window: as in struct pmp_profile_info */
};

/** Fill *covered, whose size is given, with what there is of the past. Returns false and
 * leaves it alone when there is nothing. */
bool pmp_profile_history(const struct pmp_profile *profile, struct pmp_covered *covered);
/**
 * Count a window of the past. It may be empty. *covered, whose size is given, is filled with
 * what it really covers, 0 to 0 if that is nothing; NULL: not wanted.
 *
 * The numbers of locations that no stack has any more are not given to others as long as
 * there is a window: it should be freed soon, with pmp_profile_free().
 *
 * Returns 0 with *window, or PMP_EINVAL: no past is kept, or PMP_ENOMEM.
 */
int pmp_profile_window(struct pmp_profile *profile,
		       const struct pmp_window_options *options,
		       struct pmp_profile **window, struct pmp_covered *covered,
		       struct pmp_error *err);

/*
 * Where the time of a group of threads of a process has gone, in thread-ns: those whose
 * names differ in numbers are a group, the first 63 of a process, and "other". Of a profile
 * made with options.history and .details it is all time since the start, and never becomes
 * less until the process has ended; of a window with .groups what it has covered.
 */
struct pmp_group_times {
	size_t size;
	pid_t pid;
	const char *process, *group; /* raw bytes */
	uint64_t run;		     /* CPU time */
	uint64_t ready;		     /* found running: they waited for a processor */
	uint64_t lock;	/* with options.waits, and after pmp_profile_name_locks() */
	uint64_t disk;	/* in state D, or in a call such as fsync() */
	uint64_t sleep; /* all else */
	/* Of sleep: what pmp_profile_name_locks() may still find to be lock; and all that it has
	 * found to be, which was sleep before. */
	uint64_t unsure, moved;
};
/**
 * Have the names of functions tell which threads wait for a lock whose bytes do not show
 * that, or that is the program's own, as a metadata lock of MariaDB. filter: what is known
 * of other functions, or NULL. To be called each time before groups are asked for, as time
 * that was counted as sleep becomes that of a lock. Looks names up, which may read large
 * files; each stack is asked once. While the symbolizer lets go of its lock samples may be
 * added. Returns 0 or PMP_ENOMEM.
 */
int pmp_profile_name_locks(struct pmp_profile *profile, const struct pmp_filter *filter);
/** Are there any that it has not asked yet? */
bool pmp_profile_has_unnamed_locks(struct pmp_profile *profile);

/** Returns the number of groups, 0 if they are not summed up. */
size_t pmp_profile_group_count(const struct pmp_profile *profile);
/** Fill *times, whose size is given; i is below that number. Names are borrowed until more
 * is counted. */
void pmp_profile_group(const struct pmp_profile *profile, size_t i,
		       struct pmp_group_times *times);

/* ---- the page ------------------------------------------------------------------ */

/* What of a report's tree of calls a page gets. */
struct pmp_tree_options {
	size_t size;
	bool by_thread; /* threads apart, after the process, */
	bool by_group;	/* or the groups of their names */
	bool lines;	/* names have file:line where known */
	bool module;	/* names have the module */
	unsigned px;	/* branches narrower than a quarter of a pixel of so many are put
			 * together; 0: none because of that */
	size_t nodes;	/* so are the narrowest when there are more; 0: 20,000 */
	/* Only one branch, by the names of its nodes from a process on: "demo;conn-N;main".
	 * "" and NULL: all. */
	const char *under;
};
/**
 * Write the tree as an object of JSON: write/tree.h has its form. Nothing in it ends an
 * element of HTML. Names are looked up. Returns 0, PMP_EINVAL, PMP_ENOMEM, or PMP_EIO: the
 * sink has failed.
 */
int pmp_report_write_tree(const struct pmp_report *report,
			  const struct pmp_tree_options *options,
			  const struct pmp_sink *sink, struct pmp_error *err);
/**
 * Write what each thread of a report did, as an array of JSON with a row for each: [pid, tid,
 * name, group, samples, times (us) or samples of the five states, most frequent stack], at
 * most 5000. Of the options by_thread and by_group count. Returns as
 * pmp_report_write_tree().
 */
int pmp_report_write_threads(const struct pmp_report *report,
			     const struct pmp_tree_options *options,
			     const struct pmp_sink *sink, struct pmp_error *err);
/**
 * Write the locks that threads of a report waited for, as an array of JSON with a row for
 * each, those with most samples first, at most 500: [kind and name, meaning, time (us) or
 * samples, samples, threads that waited, most frequent holder, samples in which it was that,
 * most frequent stack that waited, that which the holder had for longest meanwhile, or ""].
 * The profile has to keep waits. Returns as
 * pmp_report_write_tree().
 */
int pmp_report_write_lock_rows(const struct pmp_report *report,
			       const struct pmp_tree_options *options,
			       const struct pmp_sink *sink, struct pmp_error *err);
/** Returns the text of "page.html", "page.css" or "page.js", which the format html puts
 * into one file; NULL: there is no such file. */
const char *pmp_page_file(const char *name);

/* ---- names at addresses ------------------------------------------------------ */

/*
 * Formats without names (gperf, contention) have addresses, and a client may ask afterwards
 * what is there. These are all that a report would be written with.
 */
struct pmp_addresses;

/**
 * Find the addresses of all stacks of a report; it must outlive them, and not be updated.
 * Returns 0 with *addresses, which is to be freed with pmp_addresses_free(), or PMP_ENOMEM.
 */
int pmp_addresses_new(const struct pmp_report *report, struct pmp_addresses **addresses,
		      struct pmp_error *err);
/** Free them. Takes NULL. */
void pmp_addresses_free(struct pmp_addresses *addresses);
/**
 * The function at an address: of a caller the address may be the one that the call returns
 * to, or less by 1, as readers have it. Of functions that are inlined there the outermost.
 * Looks its name up, which may read large files. Returns NULL: no stack has it, or it has no
 * name. Borrowed, as long as the report lives.
 */
const char *pmp_addresses_name(const struct pmp_addresses *addresses, uint64_t address);

/* ---- deadlocks -------------------------------------------------------------- */

/**
 * Deadlock i (from 0) of the last sample of a report that was made with options.snapshot,
 * in one line, fit for a terminal and cut off at size: its process, then who waits for
 * which lock and who holds it. Returns how many threads are in it; 0: there is no such one.
 */
size_t pmp_report_deadlock(const struct pmp_report *report, size_t i, char *text,
			   size_t size);
/**
 * Of how many threads of that sample it is not known what they wait for, so that a deadlock
 * of theirs would not be found: of a core file that is cut off, leaves memory out, or is of
 * another machine. 0 for a living process.
 */
size_t pmp_report_unread_waits(const struct pmp_report *report);

/* ---- processes, values ---------------------------------------------------- */

/**
 * On a machine that is busy, have the calling thread run soon after it wakes: it asks for
 * little time at a time, and gets no more of it in all than before. Ordinary threads only,
 * since Linux 6.12; else nothing changes.
 */
void pmp_run_soon(void);

/* Processes as they come. */
struct pmp_procwatch;

struct pmp_new_process {
	pid_t pid, parent;
	pid_t session;	  /* the process that has begun its session */
	uint64_t started; /* as in struct pmp_target_options */
};

/** Watch for new processes. Returns 0 with *watch, which is to be freed with
 * pmp_procwatch_free(), or an error. */
int pmp_procwatch_new(struct pmp_procwatch **watch, struct pmp_error *err);
/**
 * Living processes that are new since the last call, at the first call all of them; a
 * few that are not new may be among them. Costs next to nothing when there are none.
 * Returns 0 with *count of them in *list, which is the caller's to change until the
 * next call, or an error.
 */
int pmp_procwatch_next(struct pmp_procwatch *watch, struct pmp_new_process **list,
		       size_t *count, struct pmp_error *err);
/**
 * Returns how many processes and threads, of any user, have begun and ended between two
 * calls and were not reported; more, if thousands were begun between two.
 */
uint64_t pmp_procwatch_unseen(const struct pmp_procwatch *watch);
/** Free it. Takes NULL. */
void pmp_procwatch_free(struct pmp_procwatch *watch);

/** Returns the process that a thread id belongs to if that has another id, else 0. */
pid_t pmp_thread_process(pid_t tid);
/**
 * Who may look at a process: *owner is the owner of its files in /proc, root if only root may.
 * False: it has ended or is about to.
 */
bool pmp_process_owner(pid_t pid, uid_t *owner);

enum { PMP_VALUE_SIZE = 64 }; /* bytes that are enough for one, with its NUL */
/**
 * A value in the unit of a saved profile as people read it: "1.50MB", "20ms", "17".
 * Returns buffer.
 */
char *pmp_format_value(uint64_t value, const char *unit, char *buffer, size_t size);

/* ---- files that another process reads --------------------------------------- */

/*
 * Executables, debug files and saved profiles may be made to harm who reads them. A program
 * may have processes without rights for that: a symbolizer then reads no file, but sends such
 * a process its descriptors and asks it for names; pmp_profile_read() and pmp_core_open() send
 * another one that of the profile or the core. Starting, confining and ending them is the program's part.
 */
struct pmp_namer_calls {
	/* Start one: a stream socket to a process that does what pmp_namer_wanted() says.
	 * Negative: there is none, and no names are looked up from then on; -ECANCELED:
	 * because the program is ending. */
	int (*start)(void *arg);
	/* It has said nothing for ten seconds: is it computing? Else it is given up. */
	bool (*works)(void *arg, int fd);
	/* End it, and close the socket. With a reason (of that size) it is no use any more:
	 * fill in why, as in "was ended by signal 11 (Segmentation fault)". NULL: it was
	 * not needed any more. */
	void (*end)(void *arg, int fd, char *reason, size_t size);
	void *arg;
};

/** Name all locations that have no names yet: a child of this process then needs no other. */
void pmp_symbolizer_name_all(struct pmp_symbolizer *symbolizer);
/** Numbers of locations are below it. */
size_t pmp_symbolizer_location_count(const struct pmp_symbolizer *symbolizer);
/** The number of locations that have no names yet. */
size_t pmp_symbolizer_unnamed(const struct pmp_symbolizer *symbolizer);
/** Are some of them in modules whose files have not been opened? That may take long. */
bool pmp_symbolizer_must_open(const struct pmp_symbolizer *symbolizer);
/** From now on, until it is called with false, what has no name is not looked up: it is
 * unknown for as long as that. For one of several threads with a lock, see struct
 * pmp_symbolizer_options, which has called this and does not release that: so it may ask
 * while another one names. */
void pmp_symbolizer_only_known(struct pmp_symbolizer *symbolizer, bool only_known);
/** In a child of fork(): the process that the symbolizer asks for names is its parent's. It
 * asks none from now on, and what has no name yet gets none. */
void pmp_symbolizer_leave_namer(struct pmp_symbolizer *symbolizer);

/** In such a process: waits for the first request, and returns what it has to call. */
enum pmp_namer_work {
	PMP_NAMER_NO_WORK, /* nothing: the other end is closed */
	PMP_NAMER_NAMES,   /* pmp_namer_serve() */
	PMP_NAMER_PROFILE, /* pmp_profile_serve() */
	PMP_NAMER_CORE,	   /* pmp_core_serve() */
};
enum pmp_namer_work pmp_namer_wanted(int socket);

/** What answers. */
struct pmp_namer;
struct pmp_namer_options {
	/* Called at each request, and whenever something is sent: for a limit of time. */
	void (*working)(void *arg);
	void *arg;
};
/** socket: the other end. The options are copied. Returns 0 or PMP_ENOMEM. */
int pmp_namer_new(int socket, const struct pmp_namer_options *options,
		  struct pmp_namer **namer, struct pmp_error *err);
/** Answers until the other end is closed. Large debug information is unpacked in threads. */
void pmp_namer_serve(struct pmp_namer *namer);
/** Reads one saved profile, and sends what is in it; what pmp_profile_read() needs. */
void pmp_profile_serve(int socket, const struct pmp_namer_options *options);
/** Reads one core file; what pmp_core_open() needs. */
void pmp_core_serve(int socket, const struct pmp_namer_options *options);
/** Takes NULL. */
void pmp_namer_free(struct pmp_namer *namer);
/** For a process that cannot open files: get a .dwo file that libdw wants to open, within
 * pmp_namer_serve(), in its thread. Returns a descriptor or a negative errno. */
int pmp_namer_open_split(struct pmp_namer *namer, const char *path);
/** Returns the path of a file that it was given, by its descriptor, or NULL. */
const char *pmp_namer_path(const struct pmp_namer *namer, int fd);
/** Returns the path of the module that it is at work on, or NULL. */
const char *pmp_namer_module(const struct pmp_namer *namer);

#ifdef __cplusplus
}
#endif

#endif
