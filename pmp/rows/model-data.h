/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of the model; its functions are in model.h. */
#ifndef PMP_ROWS_MODEL_DATA_H
#define PMP_ROWS_MODEL_DATA_H

#include "libpmp-program.h"
#include "rows/hash.h"
#include "rows/name-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEWS_MAX 8

struct model;
struct view_type;

enum step_progress { STEP_FAILED, STEP_ON, STEP_DONE };
/* A step works until that time; STEP_ON: call it again. Steps fill model->list. */
typedef enum step_progress model_step(struct model *model, uint64_t until);

/* Settings that can be saved: see settings_print(). */
struct settings {
	unsigned view;	 /* number of the view, see view-list.h */
	unsigned window; /* enum pmp_window */
	unsigned idle;	 /* enum pmp_idle */
	bool ungrouped;	 /* show full thread names, not groups */
	bool split;	 /* split rows by thread name */
	bool inverted;	 /* invert the tree */
	bool no_lines, full, wait;
	bool average; /* show average numbers of threads instead of shares */
	bool no_mouse;
	bool functions;		  /* for a heap, rows by function; else by stack */
	unsigned sort[VIEWS_MAX]; /* 1 + a column; 0: the view's default */
	bool reverse[VIEWS_MAX];
};

struct view_row {
	/* First what is updated for each stack: there are many of them. */
	uint64_t count;
	double average;	  /* threads */
	uint64_t most;	  /* count of the most frequent part */
	uint32_t process; /* index; NAME_NONE: several */
	uint32_t group;	  /* name of the thread or group with the highest count */
	uint32_t
		thread; /* index of the thread with most counts; in the threads view, it */
	uint32_t stack; /* index of the stack with the highest count */
	uint32_t chain; /* the stack's names */
	uint32_t name;	/* of a function */
	char state;	/* of thread and stack; L: waits for a lock */
	bool groups;	/* other groups exist */
	/* For the tree: */
	bool open;
	bool deeper;	   /* has nodes below, which are made when it is opened */
	uint64_t identity; /* stays the same from build to build */
	uint64_t self;
	double self_average;
	uint32_t first, next; /* child, sibling; NAME_NONE: none */
	uint32_t parent;
	uint32_t begin, end; /* range of its stacks in the list's paths */
	unsigned depth;	     /* indentation */
	unsigned level;	     /* number of names above it */
};

/* Rows of locks always come in this order, whatever the sort column. */
enum lock_rank {
	LOCK_ROW_DEADLOCK,
	LOCK_ROW_LOCK,
	LOCK_ROW_OTHER, /* the end of a thread, an event, another process */
};

/* The part of a row that is specific to locks. */
struct lock_row {
	uint64_t delay, longest; /* ns */
	uint64_t longest_found;	 /* ns: longest wait as found by all snapshots */
	uint32_t lock; /* index; for a saved profile, the one with most counts */
	uint32_t
		waiter; /* index of a thread that waits for it now; NAME_NONE: no thread */
	uint32_t holder; /* of waiter's lock; NAME_NONE: unknown */
	size_t behind;	 /* threads that wait for holder */
	enum lock_rank rank;
	/* From the functions; not for saved profiles. */
	const char *kind, *ask; /* constant; ask: where to look up the holder, or "" */
	const char *else_see;	/* if ask is not there; or "" */
	uint32_t meaning;	/* a name, or NAME_NONE */
	int moved;
	bool ends;	 /* waits for the end of a thread */
	bool many;	 /* stands for all of this kind and meaning */
	size_t objects;	 /* waited for now; 0: unknown */
	uint64_t object; /* one of them */
};

/* The part of a row that is specific to a heap's stacks and functions,
 * excluding callees. */
struct heap_row {
	/* In the window of time: */
	int64_t live, total, allocated, total_allocated; /* bytes; total: with callees */
	double blocks, allocs;
	/* Now: */
	double live_variance, alloc_variance; /* squared standard errors of bytes */
	uint64_t oldest;		      /* age, ns */
	uint64_t stays; /* bytes per second that reach the age of a minute */
	uint64_t age_bytes[PMP_LIVE_AGES];
	double age_blocks[PMP_LIVE_AGES];
	pid_t pid;	  /* 0: several processes */
	uint32_t process; /* "4100 mariadbd", a name; NAME_NONE: several */
	bool is_counted;  /* some of it is known */
};

/* The part of a row that is specific to classes or sizes of blocks. */
struct object_row {
	uint64_t blocks, bytes;		/* usable bytes; 0: gone */
	uint64_t old_blocks, old_bytes; /* when the heap was read before */
	uint64_t smallest, largest;	/* of a block; 0: unknown */
};

struct name_chain {
	uint32_t first, count; /* in names_of_chains, leaf first */
	uint64_t hash;
	unsigned checked; /* filter number for which matches is valid */
	bool matches;
};

struct text_filter {
	char text[128];		   /* "": none */
	struct pmp_filter *filter; /* matches text; NULL: none */
};

/* A search in rows; names cache its result. */
struct search {
	struct text_filter match;
	unsigned number; /* changes with the pattern */
};

/* The names of a location, once known. */
struct frame_names {
	uint32_t first, count; /* in names_of_locations and marks_of_locations */
	bool named, wanted;
};

/* The names of a stack, and the marks that the command line's filter gives it; final once
 * all its functions have names. */
struct stack_names {
	uint32_t chain;
	pmp_marks marks;
	uint32_t wait; /* 1 + its first entry in model.waits; 0: none */
	bool final;
	bool waits_for_nothing; /* no known wait, of kind 0, by its functions */
};

/* What the functions of a stack say of one kind of wait: see struct pmp_live_wait. */
struct stack_wait {
	const char *kind, *ask, *else_see;
	uint64_t hash;	  /* of kind and meaning */
	uint32_t meaning; /* a name, or NAME_NONE */
	uint32_t next;	  /* next of the same stack, as in stack_names.wait */
	int moved;
	uint8_t of; /* pmp_live_thread.kind */
	bool is_lock, ends, vetoed, placeless;
	bool final; /* else ask again */
};

struct thread_row {
	bool passes;
	uint32_t process;
	pid_t tid;
	uint32_t name, group; /* numbers of names */
};

/* What the rows of stacks depend on. */
struct collected {
	uint64_t time, stacks, renumbered, moved;
	unsigned filter_number, window, idle;
	bool ungrouped, split;
};

struct build;

/* The contents of a process's heap, if asked for. */
struct heap_census {
	struct pmp_named_census *now,
		*before;   /* owned; NULL: none. before: of the same process */
	uint64_t reading;  /* start of the present read, CLOCK_MONOTONIC; 0: none */
	pid_t pid;	   /* process of the last or present read */
	char refusal[704]; /* why it failed, in lines; or "" */
};

/* The rows that are shown, or being made. */
struct row_list {
	const struct view_type *type; /* the rows' view; NULL: no rows */
	struct view_row *rows;
	size_t row_count, row_capacity;
	struct lock_row *locks; /* by row, for rows of that kind */
	size_t lock_capacity;
	struct heap_row *heaps; /* likewise */
	size_t heap_capacity;
	struct object_row *objects; /* likewise */
	size_t object_capacity;
	uint32_t *order; /* rows in the order shown */
	size_t order_count, order_capacity;
	uint64_t total;	      /* count of stacks that pass the filters */
	double total_average; /* the same in threads */
	/* Rows of stacks, kept while valid; if are_rows, they are the list's rows. */
	struct view_row *stack_rows;
	size_t stack_row_count, stack_row_capacity;
	bool are_rows, are_final;
	struct collected collected;
	uint64_t collected_total;
	double collected_average;
	/* For the tree: stacks, adjacent for each node; scratch; children by name. */
	bool inverted;
	struct path *paths, *scratch;
	uint32_t *children;
};

/* How to sort rows: by order, then by compare unless it is NULL (< 0: a first), then by
 * count; threads by index instead. */
struct sorting {
	uint64_t (*order)(const struct model *model, const struct view_row *row);
	int (*compare)(const struct model *model, const struct view_row *a,
		       const struct view_row *b);
	bool reverse;
};

struct model {
	const struct pmp_live *live;
	struct pmp_profile *profile; /* NULL only in tests */
	struct pmp_live_heap heap;   /* when its rows were last made */
	uint64_t heap_time;	     /* the time of that; 0: never */
	struct heap_census census;
	const char *unit; /* of counts that are not numbers of stacks; else "" */
	bool guessed;	  /* the number of snapshots: the file does not say it */
	bool file;	  /* shows files: complete, no windows of time */
	bool saved;	  /* of saved profiles: present waits are unknown */
	struct pmp_symbolizer *symbolizer; /* NULL only in tests */
	const struct pmp_filter *filter;   /* from the command line; may be NULL */
	bool focused; /* its focus has not been replaced by another pattern */
	struct settings settings;
	struct text_filter frames, threads;
	unsigned filter_number; /* changes with the filter for frames */
	struct names names;
	struct frame_names *location_names;
	size_t location_names_count;
	uint32_t *names_of_locations;
	pmp_marks *marks_of_locations;
	size_t names_of_locations_count, names_of_locations_capacity,
		marks_of_locations_capacity;
	/* The current stack: its functions, and those the filter keeps. */
	uint32_t *functions, *kept;
	pmp_marks *marks;
	size_t function_count, function_capacity, kept_capacity, mark_capacity;
	struct stack_names *stacks;
	size_t stack_count;
	struct pmp_live_waits *live_waits; /* NULL until needed */
	struct stack_wait *waits;
	size_t wait_count, wait_capacity;
	struct name_chain *chains;
	size_t chain_count, chain_capacity;
	struct hash chain_table;
	uint32_t *names_of_chains;
	size_t names_of_chains_count, names_of_chains_capacity;
	uint32_t *wanted; /* locations to name */
	size_t wanted_count, wanted_capacity;
	struct thread_row *thread_rows;
	size_t thread_count;
	double *weights; /* by process: average threads per count */
	size_t process_count;
	struct hash nodes;     /* of the tree, by row identity: 1 open, 0 closed */
	struct row_list list;  /* the rows shown */
	struct build *build;   /* the next list in progress; NULL: none */
	struct row_list spare; /* list that build fills */
	struct pmp_live_info info;
	struct pmp_live_window all; /* since the start */
	uint64_t renumbered;	    /* pmp_live_info.renumbered at that time */
	size_t names_limit;	    /* number of names at which to start again */
	bool failed;		    /* out of memory */
};

#endif
