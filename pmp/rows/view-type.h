/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a view is: which rows it has, in which steps they are made, and its columns. It knows
 * the model and no terminal: screens, web pages and programs that read tables share it.
 */
#ifndef PMP_ROWS_VIEW_TYPE_H
#define PMP_ROWS_VIEW_TYPE_H

#include "libpmp-program.h"
#include "rows/model-data.h"
#include "rows/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_TEXT 4096 /* of a cell, more than any screen is wide */
#define STEPS_MAX 5   /* of a view, with the NULL at their end */

/* ---- columns ---------------------------------------------------------------------- */

/* When a column is there, and how it is shown. */
enum {
	COLUMN_LEFT = 1,      /* its text begins at the left */
	COLUMN_SEVERAL = 2,   /* of several processes only */
	COLUMN_WAIT = 4,      /* what threads wait for is asked for */
	COLUMN_BRIEF = 8,     /* a letter or two: not searched */
	COLUMN_FUNCTION = 16, /* of a heap: only of rows that are functions */
	COLUMN_NOW = 32,      /* the same: not of what has changed in a window */
};

struct column {
	const char *title;
	const char *averaged; /* title when threads on average are shown, or NULL */
	const char *inverted; /* title in an inverted tree, or NULL */
	const char
		*changed; /* of a heap: title of what has changed in a window, or NULL */
	const char *word; /* of one to sort by: its name in saved settings */
	enum pmp_sort sort; /* the word of --sort that means it */
	int width;	    /* 0: the rest of the line; the last one */
	int narrow;	    /* left out on screens less wide than this */
	unsigned flags;
	void (*text)(const struct model *model, const struct view_row *row, char *buffer,
		     size_t size);
	unsigned (*style)(const struct model *model,
			  const struct view_row *row); /* or NULL */
	/* Rows with a smaller order are shown first. NULL: cannot be sorted by. */
	uint64_t (*order)(const struct model *model, const struct view_row *row);
	/* Where orders are equal, < 0: a is shown before b. NULL: they say it all. */
	int (*compare)(const struct model *model, const struct view_row *a,
		       const struct view_row *b);
	/* Is what is searched for there? NULL: the text is searched. */
	bool (*has)(struct model *model, const struct search *search,
		    const struct view_row *row);
};

/* ---- a view ------------------------------------------------------------------------ */

enum row_kind {
	ROW_STACK,
	ROW_FUNCTION,
	ROW_NODE,
	ROW_THREAD,
	ROW_LOCK,
	ROW_HEAP,
	ROW_OBJECT
};

struct view_type {
	const char *name; /* of its tab */
	const char *word; /* in saved settings */
	const char *help;
	int key;	   /* a character; with Alt as well */
	enum row_kind row; /* what a row is; nodes can be opened and closed */
	/* Its rows are made by these, one after the other, up to a NULL. */
	model_step *steps[STEPS_MAX];
	const struct column *columns;
	size_t column_count;
	size_t sort;	     /* the column to sort by at first */
	const char *nothing; /* what is shown if there are no rows; NULL: the usual */
	/* The same, lines of it, where that depends on what there is; "": the usual. */
	const char *(*why_nothing)(const struct model *model, char *buffer, size_t size);
};

/* ---- cells that several views have: columns.c ---------------------------------------- */

uint64_t order_by_count(const struct model *, const struct view_row *);
uint64_t order_by_self(const struct model *, const struct view_row *);
uint64_t order_by_group(const struct model *, const struct view_row *);
uint64_t order_by_state(const struct model *, const struct view_row *);
uint64_t order_by_name(const struct model *, const struct view_row *);
uint64_t order_by_leaf(const struct model *, const struct view_row *);
/** Larger ones first; the first letters of a text, as a number. */
uint64_t order_descending(double value);
uint64_t order_of_text(const char *text);
bool has_group(struct model *, const struct search *, const struct view_row *);
bool has_name(struct model *, const struct search *, const struct view_row *);
bool has_chain(struct model *, const struct search *, const struct view_row *);
void text_share(const struct model *, const struct view_row *, char *, size_t);
void text_self_share(const struct model *, const struct view_row *, char *, size_t);
void text_count(const struct model *, const struct view_row *, char *, size_t);
void text_state(const struct model *, const struct view_row *, char *, size_t);
void text_process(const struct model *, const struct view_row *, char *, size_t);
void text_chain(const struct model *, const struct view_row *, char *, size_t);
void text_wait(const struct model *, const struct view_row *, char *, size_t);
unsigned style_state(const struct model *, const struct view_row *);

/* Columns that several views have; narrow: see struct column. */
#define COLUMN_SAMPLES \
	{ \
		.title = "SAMPLES", .width = 9, .narrow = 50, .text = text_count, \
		.order = order_by_count, .word = "samples", .sort = PMP_SORT_SAMPLES, \
	}
#define COLUMN_PROCESS(from) \
	{ \
		.title = "PROCESS", .width = 15, .narrow = (from), \
		.flags = COLUMN_LEFT | COLUMN_SEVERAL, .text = text_process, \
	}

/** What a thread waits for, in words: call, argument, place in the kernel. */
char *thread_wait(const struct pmp_live_thread *thread, char *buffer, size_t size);
/** The same of a lock or an event: its object and who holds it, "LOCK_log 4131 conn-17 D". */
char *wait_text(const struct model *model, const struct pmp_live_thread *thread,
		char *buffer, size_t size);

/* ---- locks: waits.c ------------------------------------------------------------------- */

/** Append to a text of a buffer with that size what there is room for. */
__attribute__((format(printf, 3, 4))) void text_append(char *buffer, size_t size,
						       const char *format, ...);
/** What is known of a lock; its texts are in the buffer. */
struct pmp_live_lock lock_of(const struct model *model, size_t lock, int moved,
			     char *buffer, size_t size);
/** What a thread waits for, "mutex mysql_bin_log+0x10", with its address as well, "mutex
 * 0x7f31b8001a40 in the heap", "condition (metadata lock)". Returns buffer. */
char *thread_lock_text(const struct model *model, const struct pmp_live_thread *thread,
		       bool address, char *buffer, size_t size);
/** The same of a row, "5 conditions (metadata lock)"; its parts: "condition", "metadata
 * lock", and after a blank " mysql_bin_log+0x10", with its address as well, " 5 objects";
 * "" if there is nothing to say. They return buffer. */
char *row_lock_text(const struct model *model, const struct view_row *row, char *buffer,
		    size_t size);
char *row_kind_text(const struct model *model, const struct view_row *row, char *buffer,
		    size_t size);
char *row_meaning_text(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size);
char *row_object_text(const struct model *model, const struct view_row *row, bool address,
		      char *buffer, size_t size);
/** For whom of other processes a thread waits, "pipe 442102: 6330 "producer" can write (fd
 * 4)"; "" if it is not for one. Returns buffer. */
char *thread_peers_text(const struct model *model, const struct pmp_live_thread *thread,
			char *buffer, size_t size);
/** What the functions of a stack say of a wait of its thread: see pmp_live_thread.kind.
 * NULL: that has not been asked yet. */
const struct stack_wait *wait_says(const struct model *model, size_t stack,
				   unsigned kind);
/** Who holds what a thread waits for: "28071 conn-17 D", "2 readers", "free"; "-" if that
 * is not known. Returns buffer. */
char *holder_text(const struct model *model, const struct pmp_live_thread *waiter,
		  char *buffer, size_t size);
/** The same in a sentence, '28071 "conn-17" (D, fdatasync)'. */
char *holder_words(const struct model *model, const struct pmp_live_thread *waiter,
		   char *buffer, size_t size);
/** What stands between a lock and that: "held by"; or "after" who is next, "of" a thread
 * whose end is waited for. */
const char *holder_relation(const struct model *model,
			    const struct pmp_live_thread *waiter);
/** "12.3s", "1h20m". Returns buffer. */
char *wait_time_text(uint64_t time, char *buffer, size_t size);
/** The same, as all snapshots have found a thread in one wait: ">12.3s". Returns buffer. */
char *found_time_text(uint64_t time, char *buffer, size_t size);
/** Is a row of several objects, each of which may have another holder? */
bool row_is_several(const struct lock_row *lock);
/** What a thread waits for and who holds it, in a sentence. */
char *wait_words(const struct model *model, const struct pmp_live_thread *waiter,
		 char *buffer, size_t size);
/** How many deadlocks there are now. */
size_t deadlock_count(const struct model *model);
/** The innermost function of a stack; not longer than 40 letters. Returns buffer. */
char *leaf_text(const struct model *model, size_t stack, char *buffer, size_t size);
/** Is more known of what a thread waits for than its call says? Not so of an event without
 * an object of its own. */
bool waits_for_something(const struct model *model, const struct pmp_live_thread *thread);
/** Does a thread wait for the lock of a row? */
bool waits_for_row(const struct model *model, const struct pmp_live_thread *thread,
		   const struct view_row *row);
/* ---- heaps: heap-text.c ----------------------------------------------------------------- */

/** More of a row that is a stack or a function of a heap. */
const struct heap_row *heap_row(const struct model *model, const struct view_row *row);
/** Bytes in at most 7 letters, "61.3MB"; with a sign, "+61.3MB" in 8. Returns buffer. */
char *heap_bytes_text(int64_t bytes, bool sign, char *buffer, size_t size);
/** The same of a number of blocks or calls, "393431", "1.25M". */
char *heap_count_text(double count, bool sign, char *buffer, size_t size);
/** "0.2s", "120s", "90m", "17h"; "-" if it is 0. */
char *heap_age_text(uint64_t age, char *buffer, size_t size);
/** Standard error of a sum, as a share of it: "3.2%". "-": there is none. */
char *heap_error_text(double variance, int64_t sum, char *buffer, size_t size);

/** More of a row that is a class of blocks, or a size. */
const struct object_row *object_row(const struct model *model,
				    const struct view_row *row);
/** Bytes of a block, "488", "56-1016"; "-" if they are not known. Returns buffer. */
char *object_size_text(const struct object_row *more, char *buffer, size_t size);

/** More of a row that is a lock. */
const struct lock_row *lock_row(const struct model *model, const struct view_row *row);

#endif
