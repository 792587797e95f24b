/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the model of the views is made of; what is done with it stands in model.h. */
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
/* Until that time; STEP_ON: it is to be called again. They make model->list. */
typedef enum step_progress model_step(struct model *model, uint64_t until);

/* What can be saved: see settings_print(). */
struct settings {
	unsigned view;	 /* by its number; see view-type.h */
	unsigned window; /* enum pmp_window */
	unsigned idle;	 /* enum pmp_idle */
	bool ungrouped;	 /* names of threads as they are */
	bool split;	 /* rows by thread */
	bool inverted;	 /* the tree */
	bool no_lines, full, wait;
	bool average; /* threads on average instead of a share of all stacks */
	bool no_mouse;
	bool functions;		  /* of a heap, rows by function; else by stack */
	unsigned sort[VIEWS_MAX]; /* a column, plus 1; 0: that of the view */
	bool reverse[VIEWS_MAX];
};

struct view_row {
	/* What each stack adds to comes first: there are many of them. */
	uint64_t count;
	double average;	  /* threads */
	uint64_t most;	  /* of its parts the most frequent is counted so often */
	uint32_t process; /* index; NAME_NONE: of several */
	uint32_t group;	  /* name of the thread or group of threads with most of it */
	uint32_t
		thread; /* index of the thread with most of it; in the threads view, it */
	uint32_t stack; /* index of the stack with most of it */
	uint32_t chain; /* names of the stack */
	uint32_t name;	/* of the function */
	char state;	/* of these; L: waits for a lock */
	bool groups;	/* there are other groups */
	/* Of the tree. */
	bool open;
	bool deeper;	   /* there are nodes below, made when it is opened */
	uint64_t identity; /* the same thing has the same one in each build */
	uint64_t self;
	double self_average;
	uint32_t first, next; /* child, sibling; NAME_NONE: none */
	uint32_t parent;
	uint32_t begin, end; /* its stacks, in the list's paths */
	unsigned depth;	     /* as it is shown */
	unsigned level;	     /* of names above it */
};

/* Rows of locks are in this order, whatever they are sorted by. */
enum lock_rank {
	LOCK_ROW_DEADLOCK,
	LOCK_ROW_LOCK,
	LOCK_ROW_OTHER, /* for the end of a thread, for an event, for another process */
};

/* More of a row that is a lock. */
struct lock_row {
	uint64_t delay, longest; /* ns */
	uint64_t longest_found;	 /* ns of a wait for it, as all snapshots have found it */
	uint32_t lock; /* index; of a saved profile the one that was counted most */
	uint32_t
		waiter; /* index of a thread that waits for it now; NAME_NONE: none does */
	uint32_t holder; /* of the one that this waits for; NAME_NONE: not known */
	size_t behind;	 /* threads that wait for the holder */
	enum lock_rank rank;
	/* As the functions say; not of saved profiles. */
	const char *kind, *ask; /* constant; ask: what knows the holder, or "" */
	const char *else_see;	/* if that is not there; or "" */
	uint32_t meaning;	/* a name, or NAME_NONE */
	int moved;
	bool ends;	 /* for the end of a thread */
	bool many;	 /* all of that kind and meaning, which are not told apart */
	size_t objects;	 /* of them, for which threads wait now; 0: not known */
	uint64_t object; /* one of these */
};

/* More of a row that is a stack of a heap, or a function: of it alone. */
struct heap_row {
	/* In the window. */
	int64_t live, total, allocated, total_allocated; /* bytes; total: with callees */
	double blocks, allocs;
	/* Now. */
	double live_variance, alloc_variance; /* squares of standard errors of bytes */
	uint64_t oldest;		      /* age, ns */
	uint64_t stays; /* bytes a second that become a minute old */
	uint64_t age_bytes[PMP_LIVE_AGES];
	double age_blocks[PMP_LIVE_AGES];
	pid_t pid;	  /* 0: of several processes */
	uint32_t process; /* "4100 mariadbd", a name; NAME_NONE: of several */
	bool is_counted;  /* something of it is known */
};

/* More of a row that is a class of blocks, or a size. */
struct object_row {
	uint64_t blocks, bytes;		/* usable; 0: it has gone */
	uint64_t old_blocks, old_bytes; /* when the heap was read before */
	uint64_t smallest, largest;	/* of a block; 0: not known */
};

struct name_chain {
	uint32_t first, count; /* in names_of_chains, leaf first */
	uint64_t hash;
	unsigned checked; /* filter for which matches is right */
	bool matches;
};

struct text_filter {
	char text[128];		   /* "": none */
	struct pmp_filter *filter; /* that focuses on it; NULL: none */
};

/* What is searched for in rows; names keep what was found of them. */
struct search {
	struct text_filter match;
	unsigned number; /* changes with it */
};

/* What is known of a location: its names, once it has them. */
struct frame_names {
	uint32_t first, count; /* in names_of_locations and marks_of_locations */
	bool named, wanted;
};

/* Of a stack: its names, and what the command line's filter says of it; final once all
 * of its functions have names. */
struct stack_names {
	uint32_t chain;
	pmp_marks marks;
	uint32_t wait; /* the first of model.waits that is about it, plus 1; 0: none */
	bool final;
	bool waits_for_nothing; /* known by its functions, in other calls than for locks */
};

/* What the functions of a stack say of a wait of one kind: see struct pmp_live_wait. */
struct stack_wait {
	const char *kind, *ask, *else_see;
	uint64_t hash;	  /* of kind and meaning */
	uint32_t meaning; /* a name, or NAME_NONE */
	uint32_t next;	  /* about the same stack, as in stack_names.wait */
	int moved;
	uint8_t of; /* pmp_live_thread.kind */
	bool is_lock, ends, vetoed, placeless;
	bool final; /* else it is asked again */
};

struct thread_row {
	bool passes;
	uint32_t process;
	pid_t tid;
	uint32_t name, group; /* names */
};

/* What stacks as rows depend on. */
struct collected {
	uint64_t time, stacks, renumbered, moved;
	unsigned filter_number, window, idle;
	bool ungrouped, split;
};

struct build;

/* What the heap of a process holds, as far as it was asked for. */
struct heap_census {
	struct pmp_named_census *now,
		*before;  /* owned; NULL: none. before: of the same */
	uint64_t reading; /* since when it is being read, CLOCK_MONOTONIC; 0: it is not */
	pid_t pid;	  /* whose is or was to be read last */
	char refusal[704]; /* why it could not be, in lines; "" */
};

/* What is shown, or is being made. */
struct row_list {
	const struct view_type *type; /* whose rows these are; NULL: there are none */
	struct view_row *rows;
	size_t row_count, row_capacity;
	struct lock_row *locks; /* for each row of that kind */
	size_t lock_capacity;
	struct heap_row *heaps; /* likewise */
	size_t heap_capacity;
	struct object_row *objects; /* likewise */
	size_t object_capacity;
	uint32_t *order; /* rows as they are shown */
	size_t order_count, order_capacity;
	uint64_t total;	      /* stacks that pass the filters */
	double total_average; /* the same as threads */
	/* Stacks as rows, kept while they would be the same; in the list of stacks these
	 * are the rows themselves. */
	struct view_row *stack_rows;
	size_t stack_row_count, stack_row_capacity;
	bool are_rows, are_final;
	struct collected collected;
	uint64_t collected_total;
	double collected_average;
	/* Of the tree: stacks, those of a node side by side; scratch; children by name. */
	bool inverted;
	struct path *paths, *scratch;
	uint32_t *children;
};

/* The order of rows: by that of a column, then, unless compare is NULL, by what it says
 * (< 0: a first), then the most frequent first, of threads the first. */
struct sorting {
	uint64_t (*order)(const struct model *model, const struct view_row *row);
	int (*compare)(const struct model *model, const struct view_row *a,
		       const struct view_row *b);
	bool reverse;
};

struct model {
	const struct pmp_live *live;
	struct pmp_profile *profile; /* that it is of; NULL only in tests */
	struct pmp_live_heap heap;   /* as it was when rows of it were made last */
	uint64_t heap_time;	     /* then; 0: never */
	struct heap_census census;
	const char *unit; /* of counts that are no numbers of stacks; "": they are */
	bool file;  /* it is of files: all there is is there, and counted as a whole */
	bool saved; /* not only of core files: nothing is known of threads that wait now */
	struct pmp_symbolizer *symbolizer; /* NULL only in tests */
	const struct pmp_filter *filter;   /* of the command line; may be NULL */
	bool focused; /* what it focuses on has not been replaced by another pattern */
	struct settings settings;
	struct text_filter frames, threads;
	unsigned filter_number; /* changes with the frames filter */
	struct names names;
	struct frame_names *location_names;
	size_t location_names_count;
	uint32_t *names_of_locations;
	pmp_marks *marks_of_locations;
	size_t names_of_locations_count, names_of_locations_capacity,
		marks_of_locations_capacity;
	/* The current stack: its functions, which of them the filter keeps. */
	uint32_t *functions, *kept;
	pmp_marks *marks;
	size_t function_count, function_capacity, kept_capacity, mark_capacity;
	struct stack_names *stacks;
	size_t stack_count;
	struct pmp_live_waits *live_waits; /* NULL until one is asked for */
	struct stack_wait *waits;
	size_t wait_count, wait_capacity;
	struct name_chain *chains;
	size_t chain_count, chain_capacity;
	struct hash chain_table;
	uint32_t *names_of_chains;
	size_t names_of_chains_count, names_of_chains_capacity;
	uint32_t *wanted; /* locations to be named */
	size_t wanted_count, wanted_capacity;
	struct thread_row *thread_rows;
	size_t thread_count;
	double *weights; /* of a count in threads on average, by process */
	size_t process_count;
	struct hash nodes;     /* of the tree: 1 open, 0 closed, by identity of the row */
	struct row_list list;  /* the result */
	struct build *build;   /* the next one; NULL: it is not being made */
	struct row_list spare; /* what it is made of */
	struct pmp_live_info info;
	struct pmp_live_window all; /* since the start */
	uint64_t renumbered;	    /* the live_info's, when all of this was learnt */
	size_t names_limit;	    /* names at which all is learnt again */
	bool failed;		    /* not enough memory */
};

#endif
