/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The definition of a view: its kind of row, the steps that make rows, and its columns.
 * It knows the model but no terminal, so screens, web pages and programs that read tables
 * can share it.
 */
#ifndef PMP_ROWS_VIEW_TYPE_H
#define PMP_ROWS_VIEW_TYPE_H

#include "libpmp-program.h"
#include "rows/model-data.h"
#include "rows/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_TEXT 4096 /* size of a cell: wider than any screen */
#define STEPS_MAX 5   /* steps of a view, with the final NULL */

/* ---- columns ---------------------------------------------------------------------- */

/* When a column is shown, and how. */
enum {
	COLUMN_LEFT = 1,      /* aligned to the left */
	COLUMN_SEVERAL = 2,   /* only with several processes */
	COLUMN_WAIT = 4,      /* only if settings.wait is on */
	COLUMN_BRIEF = 8,     /* a letter or two: not searched */
	COLUMN_FUNCTION = 16, /* of a heap: only for rows of functions */
	COLUMN_NOW = 32,      /* of a heap: not for changes in a window */
};

struct column {
	const char *title;
	const char *averaged; /* title for average threads, or NULL */
	const char *inverted; /* title for the inverted tree, or NULL */
	const char
		*changed; /* of a heap: title for what has changed in a window, or NULL */
	const char *word; /* if sortable: its name in saved settings */
	enum pmp_sort sort; /* the --sort value that selects it */
	int width;	    /* 0: the rest of the line; last column only */
	int narrow;	    /* hidden on narrower screens */
	unsigned flags;
	void (*text)(const struct model *model, const struct view_row *row, char *buffer,
		     size_t size);
	unsigned (*style)(const struct model *model,
			  const struct view_row *row); /* or NULL */
	/* Smaller orders come first. NULL: not sortable. */
	uint64_t (*order)(const struct model *model, const struct view_row *row);
	/* Decides between equal orders, < 0: a first. NULL: no need. */
	int (*compare)(const struct model *model, const struct view_row *a,
		       const struct view_row *b);
	/* Does the cell match the search? NULL: match its text. */
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
	const char *name; /* on its tab */
	const char *word; /* in saved settings */
	const char *help;
	int key;	   /* a character; also works with Alt */
	enum row_kind row; /* nodes can be opened and closed */
	/* The steps that make its rows, ending with NULL. */
	model_step *steps[STEPS_MAX];
	const struct column *columns;
	size_t column_count;
	size_t sort;	     /* default sort column */
	const char *nothing; /* shown if there are no rows; NULL: the default text */
	/* The same, in lines, if it depends on the model; "": the default text. */
	const char *(*why_nothing)(const struct model *model, char *buffer, size_t size);
};

/* ---- cells shared by several views: columns.c -------------------------------------- */

uint64_t order_by_count(const struct model *, const struct view_row *);
uint64_t order_by_self(const struct model *, const struct view_row *);
uint64_t order_by_group(const struct model *, const struct view_row *);
uint64_t order_by_state(const struct model *, const struct view_row *);
uint64_t order_by_name(const struct model *, const struct view_row *);
uint64_t order_by_leaf(const struct model *, const struct view_row *);
/** Larger ones first; and the first letters of a text as a number. */
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

/* Columns shared by several views; from: see narrow in struct column. */
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

/** What a thread waits for: call, argument, place in the kernel. */
char *thread_wait(const struct pmp_live_thread *thread, char *buffer, size_t size);
/** The same for a lock or an event: object and holder, "LOCK_log 4131 conn-17 D". */
char *wait_text(const struct model *model, const struct pmp_live_thread *thread,
		char *buffer, size_t size);

/* ---- locks: waits.c ------------------------------------------------------------------- */

/** Append to the text in a buffer of that size, as far as there is room. */
__attribute__((format(printf, 3, 4))) void text_append(char *buffer, size_t size,
						       const char *format, ...);
/** Get what is known of a lock; its texts are in the buffer. */
struct pmp_live_lock lock_of(const struct model *model, size_t lock, int moved,
			     char *buffer, size_t size);
/** What a thread waits for, "mutex mysql_bin_log+0x10", "condition (metadata lock)"; with
 * address, "mutex 0x7f31b8001a40 in the heap". Returns buffer. */
char *thread_lock_text(const struct model *model, const struct pmp_live_thread *thread,
		       bool address, char *buffer, size_t size);
/** The same for a row, "5 conditions (metadata lock)"; and its parts: "condition",
 * "metadata lock", and " mysql_bin_log+0x10" or " 5 objects", with a leading blank, and
 * if asked for with the address. "" if there is nothing to say. They return buffer. */
char *row_lock_text(const struct model *model, const struct view_row *row, char *buffer,
		    size_t size);
char *row_kind_text(const struct model *model, const struct view_row *row, char *buffer,
		    size_t size);
char *row_meaning_text(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size);
char *row_object_text(const struct model *model, const struct view_row *row, bool address,
		      char *buffer, size_t size);
/** Which other process a thread waits for: "pipe 442102: 6330 "producer" can write (fd 4)";
 * "" if none. Returns buffer. */
char *thread_peers_text(const struct model *model, const struct pmp_live_thread *thread,
			char *buffer, size_t size);
/** What the functions of a stack say of its thread's wait; kind: pmp_live_thread.kind.
 * NULL: not learnt yet. */
const struct stack_wait *wait_says(const struct model *model, size_t stack,
				   unsigned kind);
/** Who holds what a thread waits for: "28071 conn-17 D", "2 readers", "free"; "-" if
 * unknown. Returns buffer. */
char *holder_text(const struct model *model, const struct pmp_live_thread *waiter,
		  char *buffer, size_t size);
/** The same for a sentence, '28071 "conn-17" (D, fdatasync)'. */
char *holder_words(const struct model *model, const struct pmp_live_thread *waiter,
		   char *buffer, size_t size);
/** Links a lock and its holder: "held by"; "after" the next in a queue; "of" a thread
 * whose end is waited for. */
const char *holder_relation(const struct model *model,
			    const struct pmp_live_thread *waiter);
/** "12.3s", "1h20m". Returns buffer. */
char *wait_time_text(uint64_t time, char *buffer, size_t size);
/** The same for a wait as found by all snapshots: ">12.3s". Returns buffer. */
char *found_time_text(uint64_t time, char *buffer, size_t size);
/** Does a row stand for several objects, which may have different holders? */
bool row_is_several(const struct lock_row *lock);
/** What a thread waits for and who holds it, for a sentence. */
char *wait_words(const struct model *model, const struct pmp_live_thread *waiter,
		 char *buffer, size_t size);
/** The present number of deadlocks. */
size_t deadlock_count(const struct model *model);
/** The innermost function of a stack, less than 40 letters. Returns buffer. */
char *leaf_text(const struct model *model, size_t stack, char *buffer, size_t size);
/** Is more known of a thread's wait than the system call? False for an event without an
 * object of its own. */
bool waits_for_something(const struct model *model, const struct pmp_live_thread *thread);
/** Does a thread wait for the lock of this row? */
bool waits_for_row(const struct model *model, const struct pmp_live_thread *thread,
		   const struct view_row *row);
/* ---- heaps: heap-text.c ----------------------------------------------------------------- */

/** The specific part of a row that is a stack or a function of a heap. */
const struct heap_row *heap_row(const struct model *model, const struct view_row *row);
/** Bytes in at most 7 letters, "61.3MB"; with sign 8, "+61.3MB". Returns buffer. */
char *heap_bytes_text(int64_t bytes, bool sign, char *buffer, size_t size);
/** The same for a number of blocks or calls, "393431", "1.25M". */
char *heap_count_text(double count, bool sign, char *buffer, size_t size);
/** "0.2s", "120s", "90m", "17h"; "-" for 0. */
char *heap_age_text(uint64_t age, char *buffer, size_t size);
/** The standard error of a sum, relative to it: "3.2%"; "-": none. */
char *heap_error_text(double variance, int64_t sum, char *buffer, size_t size);

/** The specific part of a row that is a class or size of blocks. */
const struct object_row *object_row(const struct model *model,
				    const struct view_row *row);
/** The bytes of a block, "488", "56-1016"; "-" if unknown. Returns buffer. */
char *object_size_text(const struct object_row *more, char *buffer, size_t size);

/** The specific part of a row that is a lock. */
const struct lock_row *lock_row(const struct model *model, const struct view_row *row);

#endif
