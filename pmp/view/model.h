/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the views show, as rows: what was counted is filtered, put together by names,
 * and sorted. No terminal is known here, and nothing is slow: a function that has no
 * name yet is shown by its place, and asked for.
 */
#ifndef PMP_PMP_VIEW_MODEL_H
#define PMP_PMP_VIEW_MODEL_H

#include "libpmp.h"
#include "names.h"
#include "table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pmp_view_kind {
	PMP_VIEW_STACKS,
	PMP_VIEW_FUNCTIONS,
	PMP_VIEW_TREE,
	PMP_VIEW_THREADS,
	PMP_VIEW_COUNT
};

/* What can be saved: see pmp_settings_save(). */
struct pmp_settings {
	unsigned view;	 /* enum pmp_view_kind */
	unsigned window; /* enum pmp_window */
	unsigned idle;	 /* enum pmp_idle */
	bool ungrouped;	 /* names of threads as they are */
	bool split;	 /* rows by thread */
	bool inverted;	 /* the tree */
	bool no_lines, full, wait;
	bool average; /* threads on average instead of a share of all stacks */
	bool no_mouse;
	unsigned sort[PMP_VIEW_COUNT]; /* a column, plus 1; 0: that of the view */
	bool reverse[PMP_VIEW_COUNT];
};

struct pmp_row {
	/* What each stack adds to comes first: there are many of them. */
	uint64_t count;
	double average;	  /* threads */
	uint64_t most;	  /* of its parts the most frequent is counted so often */
	uint32_t process; /* index; PMP_NAME_NONE: of several */
	uint32_t group;	  /* name of the thread or group of threads with most of it */
	uint32_t thread;  /* index of the thread with most of it; in the threads view, it */
	uint32_t stack;	  /* index of the stack with most of it */
	uint32_t chain;	  /* names of the stack */
	uint32_t name;	  /* of the function */
	char state;	  /* of these; L: waits for a lock */
	bool groups;	  /* there are other groups */
	/* Of the tree. */
	bool open;
	bool deeper; /* there are nodes below, made when it is opened */
	uint64_t key; /* the same thing has the same key in each build */
	uint64_t self;
	double self_average;
	uint32_t first, next; /* child, sibling; PMP_NAME_NONE: none */
	uint32_t parent;
	uint32_t begin, end; /* its stacks, in the list's paths */
	unsigned depth;	     /* as it is shown */
	unsigned level;	     /* of names above it */
};

struct pmp_chain {
	uint32_t first, count; /* in names_of_chains, leaf first */
	uint64_t hash;
	unsigned checked;  /* filter for which matches is right */
	bool matches;
};

struct pmp_match {
	char text[128]; /* "": none */
	struct pmp_filter *filter; /* that focuses on it; NULL: none */
};

/* What is known of a location: its names, once it has them. */
struct pmp_place {
	uint32_t first, count; /* in names_of_places and marks_of_places */
	bool named, asked;
};

/* Of a stack: its names, and what the command line's filter says of it; final once all
 * of its functions have names. */
struct pmp_known_stack {
	uint32_t chain;
	pmp_marks marks;
	bool final;
};

struct pmp_thread_row {
	bool passes;
	uint32_t process;
	pid_t tid;
	uint32_t name, group; /* names */
};

/* What stacks as rows depend on. */
struct pmp_collected {
	uint64_t time, stacks, renumbered, moved;
	unsigned filter_number, window, idle;
	bool ungrouped, split;
};

struct pmp_making;

/* What is shown, or is being made. */
struct pmp_list {
	unsigned view; /* of the settings, when it was made */
	struct pmp_row *rows;
	size_t row_count, row_capacity;
	uint32_t *order; /* rows as they are shown */
	size_t order_count, order_capacity;
	uint64_t total;	      /* stacks that pass the filters */
	double total_average; /* the same as threads */
	/* Stacks as rows, kept while they would be the same; in the list of stacks these
	 * are the rows themselves. */
	struct pmp_row *stack_rows;
	size_t stack_row_count, stack_row_capacity;
	bool are_rows, are_final;
	struct pmp_collected collected;
	uint64_t collected_total;
	double collected_average;
	/* Of the tree: stacks, those of a node side by side; scratch; children by name. */
	bool inverted;
	struct pmp_path *paths, *moved;
	uint32_t *children;
};

/* The order of rows: by key, then, unless compare is NULL, by what it says (< 0: a first),
 * then the most frequent first, of threads the first. */
struct pmp_sorting {
	uint64_t (*key)(const void *arg, const struct pmp_row *row); /* NULL: as they are */
	int (*compare)(const void *arg, const struct pmp_row *a, const struct pmp_row *b);
	const void *arg;
	bool reverse;
};

struct pmp_model {
	const struct pmp_live *live;
	bool saved; /* it is of a saved profile: nothing is known of windows of time */
	struct pmp_symbolizer *symbolizer; /* NULL only in tests */
	const struct pmp_filter *filter; /* of the command line; may be NULL */
	bool focused; /* what it focuses on has not been replaced by another pattern */
	struct pmp_settings settings;
	struct pmp_match frames, threads;
	unsigned filter_number; /* changes with the frames filter */
	struct pmp_names names;
	struct pmp_place *places;
	size_t place_count;
	uint32_t *names_of_places;
	pmp_marks *marks_of_places;
	size_t names_of_places_count, names_of_places_capacity, marks_of_places_capacity;
	/* The stack at hand: its functions, what is left of them. */
	uint32_t *functions, *left;
	pmp_marks *marks;
	size_t function_count, function_capacity, left_capacity, mark_capacity;
	struct pmp_known_stack *stacks;
	size_t stack_count;
	struct pmp_chain *chains;
	size_t chain_count, chain_capacity;
	struct pmp_table chain_table;
	uint32_t *names_of_chains;
	size_t names_of_chains_count, names_of_chains_capacity;
	uint32_t *wanted; /* locations to be named */
	size_t wanted_count, wanted_capacity;
	struct pmp_thread_row *thread_rows;
	size_t thread_count;
	double *weights; /* of a count in threads on average, by process */
	size_t process_count;
	struct pmp_table nodes; /* of the tree: 1 open, 0 closed, by key of the row */
	struct pmp_list list;	/* the result */
	struct pmp_making *making; /* the next one; NULL: it is not being made */
	struct pmp_list spare;	   /* what it is made of */
	struct pmp_live_info info;
	uint64_t renumbered; /* the live_info's, when all of this was learnt */
	size_t names_limit;  /* names at which all is learnt anew */
	bool failed; /* not enough memory */
};

void pmp_model_init(struct pmp_model *model, struct pmp_symbolizer *symbolizer);
void pmp_model_free(struct pmp_model *model);
/** Count from another live from now on; what was known of the old one is forgotten. */
void pmp_model_set_live(struct pmp_model *model, const struct pmp_live *live);

/** The window of time that is counted. */
enum pmp_window pmp_model_window(const struct pmp_model *model);
/** Show what passes a filter, which is borrowed, and only that; to be called once, before
 * anything is shown. The frames filter begins as what it focuses on. */
void pmp_model_set_filter(struct pmp_model *model, const struct pmp_filter *filter);

/**
 * Make the rows anew, in this order: to be gone on with until it returns true; what was
 * shown stays until then, unless it would mean something else. What was begun before is
 * given up. To be called while nobody else counts or names.
 */
void pmp_model_begin(struct pmp_model *model, const struct pmp_sorting *sorting);
/** Until that time (ns of CLOCK_MONOTONIC; UINT64_MAX: until it is done). */
bool pmp_model_go_on(struct pmp_model *model, uint64_t until);
bool pmp_model_is_busy(const struct pmp_model *model);
/** False: threads or stacks were put together, and rows mean something else now. */
bool pmp_model_is_valid(const struct pmp_model *model);
/** Has that time come? */
bool pmp_model_is_late(uint64_t until);

/** The row shown at a place, or NULL. */
const struct pmp_row *pmp_model_row(const struct pmp_model *model, size_t i);
/** Where a row is shown, or -1; it is looked for around a place. */
long pmp_model_find(const struct pmp_model *model, uint64_t key, size_t around);

/** Set a filter, an extended regular expression without regard to case; "": none. False: it
 * is none, and *problem (size bytes) says why. */
bool pmp_model_filter(struct pmp_model *model, struct pmp_match *filter, const char *text,
		      char *problem, size_t size);

/** Open or close a node of the tree; rebuilds what is shown. */
void pmp_model_open(struct pmp_model *model, const struct pmp_row *row, bool open);
/** Open the hottest path below a node. */
void pmp_model_open_hot(struct pmp_model *model, const struct pmp_row *row);

/** Has the row a node of the tree below it? */
bool pmp_model_has_children(const struct pmp_row *row);

/** The name to show of a function. */
const char *pmp_model_name(const struct pmp_model *model, uint32_t name);
/** Its names, leaf first, joined by '<'. Returns buffer. */
char *pmp_model_chain(const struct pmp_model *model, uint32_t chain, char *buffer,
		      size_t size);
/** The names of a stack by index, for details. */
uint32_t pmp_model_chain_of(struct pmp_model *model, size_t stack);
/** The state of a thread with that stack; L: it waits for a lock. */
char pmp_model_state(const struct pmp_model *model, char state, bool waits_for_lock,
		     size_t stack);

#endif
