/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A saved profile that is being read; what the files of it have in common. */
#ifndef PMP_TALLY_PPROF_READ_H
#define PMP_TALLY_PPROF_READ_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/pprof-fields.h"
#include "tally/arena.h"
#include "tally/fields.h"
#include "tally/pprof-calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_PPROF_VALUES_MAX ((size_t)64)

struct pmp_pprof_function {
	uint32_t name, linkage, file; /* texts */
};

struct pmp_pprof_location {
	const uint8_t *data; /* of its message */
	size_t length;
	pmp_location found[2]; /* as a return address, exact; NONE: not yet */
	const char *mark;      /* its name if it has no address; borrowed, or NULL */
	bool signal;
};

/* Which of a sample's values is what; -1: none. Times have a unit in ns. */
struct pmp_pprof_columns {
	int count, cpu, offcpu, wall;
	int contentions, caused_contentions, caused_delay;
	uint64_t cpu_unit, offcpu_unit, wall_unit;
	int heap[PMP_HEAP_VALUES]; /* if has_heap: bytes at least are there */
	bool has_heap;
};

/* What labels of a sample say of its heap. */
struct pmp_pprof_heap {
	uint64_t age;			  /* of the oldest block, ns */
	uint64_t alloc_error, live_error; /* standard errors */
	uint64_t failures, largest_failure;
};

struct pmp_pprof_type {
	uint32_t name, unit; /* texts */
};

struct pmp_pprof_reader {
	const struct pmp_pprof_want *want;
	const struct pmp_pprof_calls *calls;
	struct pmp_buf texts; /* all of them, each with its NUL */
	uint32_t *text_starts;
	size_t text_count, text_capacity;
	struct pmp_intern *function_ids, *location_ids, *mapping_ids;
	struct pmp_pprof_function
		*functions; /* by the numbers that their ids have there */
	size_t function_count, function_capacity;
	struct pmp_pprof_location *locations;
	size_t location_count, location_capacity;
	struct pmp_mapping *mappings; /* path, build_id: set after the first walk */
	struct pmp_pprof_type *mapping_texts; /* path, build-id */
	uint32_t *mapping_numbers;	      /* those that calls have given */
	uint32_t no_mapping; /* of what lies in none; UINT32_MAX: not yet */
	size_t mapping_count, mapping_capacity, texts_capacity, numbers_capacity;
	struct pmp_pprof_type types[PMP_PPROF_VALUES_MAX];
	size_t type_count;
	uint64_t default_type;
	uint64_t period;      /* in the unit of its type */
	uint32_t period_unit; /* text; 0: not told */
	struct pmp_pprof_columns columns;
	uint64_t *comments; /* texts */
	size_t comment_count, comment_capacity;
	pmp_location *stack; /* of the current sample */
	size_t stack_capacity;
	size_t sample_count, process_count, names_size, labels_size;
	uint64_t counted; /* the sum of counts */
	bool recorded;	  /* its heap is from a recorder of pmp's */
	struct pmp_profile_info info;
	struct pmp_metadata metadata;
	struct pmp_error *refusal; /* of what is right, but not what is wanted */
	struct pmp_buf readable;   /* demangled names of a location */
	struct pmp_arena arena;
};

/* ---- pprof-read-tables.c: texts, functions, mappings, locations ------------------------- */

/* Add what a field of the profile says to its table. 0 or a code of libpmp.h. */
int pmp_pprof_add_field(struct pmp_pprof_reader *reader, const struct pmp_field *field);
/* Explains that the file has more than `most` of something. Returns PMP_ELIMIT. */
int pmp_pprof_too_many(struct pmp_pprof_reader *reader, size_t most, const char *what);
/* Every text that is meant must be there. */
bool pmp_pprof_check_texts(const struct pmp_pprof_reader *reader);
/* A text by number, which pmp_pprof_is_text() has said is there. */
const char *pmp_pprof_text(const struct pmp_pprof_reader *reader, uint32_t number);
bool pmp_pprof_is_text(const struct pmp_pprof_reader *reader, int64_t number);
/* A text may come before or after what means it: checked when all are there. */
uint32_t pmp_pprof_text_number(int64_t number);

/* ---- pprof-read-values.c: what is counted, and how the profile came about --------------- */

/*
 * When all tables are there: which value is what, and what the comments say. 0, or
 * PMP_EINVAL if what is wanted is not counted; reader->refusal says why.
 */
int pmp_pprof_find_values(struct pmp_pprof_reader *reader);
/* What follows a prefix, or NULL. */
const char *pmp_pprof_after(const char *text, const char *prefix);

/* "name=number" among the words of a comment. */
void pmp_pprof_take_statistics(const char *line, const char *name, uint64_t *value);
/* The column of that type and unit; -1: there is none. */
int pmp_pprof_find_count(const struct pmp_pprof_reader *reader, const char *name,
			 const char *unit);

/* ---- pprof-read-heap.c: what a recorder has written down --------------------------------- */

/* Which columns it has. */
void pmp_pprof_find_heap(struct pmp_pprof_reader *reader);
/* Of a comment "heap: ...". 0 or PMP_ENOMEM. */
int pmp_pprof_read_process(struct pmp_pprof_reader *reader, const char *line);
/* false: it is another label. */
bool pmp_pprof_read_heap_label(const char *key, int64_t number,
			       struct pmp_pprof_heap *heap);
/* What the values and labels say. false: nothing. */
bool pmp_pprof_make_heap(const struct pmp_pprof_reader *reader, const uint64_t *values,
			 const struct pmp_pprof_heap *heap, struct pmp_heap_sums *sums);

/* ---- pprof-read-samples.c: stacks -------------------------------------------------------- */

/* Count a sample. 0 or a code of libpmp.h. */
int pmp_pprof_read_sample(struct pmp_pprof_reader *reader, const struct pmp_field *field);

#endif
