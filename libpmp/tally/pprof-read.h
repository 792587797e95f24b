/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of reading a saved profile, shared by pprof-read*.c. "Text" is an index in the
 * profile's string table. */
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
	const uint8_t *data; /* its message */
	size_t length;
	pmp_location found[2]; /* as return address, exact; PMP_LOCATION_NONE: not yet */
	const char *mark;      /* its name if it has no address; borrowed, or NULL */
	bool signal;
};

/* The indices of a sample's values; -1: the file has none. *_unit: in ns. */
struct pmp_pprof_columns {
	int count, cpu, offcpu, wall;
	int contentions, caused_contentions, caused_delay;
	uint64_t cpu_unit, offcpu_unit, wall_unit;
	int heap[PMP_HEAP_VALUES]; /* if has_heap, there is at least one of bytes */
	bool has_heap;
};

/* What the labels of a sample say about its heap. */
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
	struct pmp_buf texts; /* the string table, each string with its NUL */
	uint32_t *text_starts;
	size_t text_count, text_capacity;
	struct pmp_intern *function_ids, *location_ids, *mapping_ids;
	struct pmp_pprof_function
		*functions; /* by the numbers of their ids in function_ids */
	size_t function_count, function_capacity;
	struct pmp_pprof_location *locations;
	size_t location_count, location_capacity;
	struct pmp_mapping *mappings; /* path, build_id: set when a location is in it */
	struct pmp_pprof_type *mapping_texts; /* path, build-id */
	uint32_t *mapping_numbers; /* of calls->mapping(); UINT32_MAX: not yet */
	uint32_t no_mapping;	   /* likewise, for locations in no mapping */
	size_t mapping_count, mapping_capacity, texts_capacity, numbers_capacity;
	struct pmp_pprof_type types[PMP_PPROF_VALUES_MAX];
	size_t type_count;
	uint64_t default_type;
	uint64_t period;      /* in period_unit */
	uint32_t period_unit; /* text; 0: not given */
	struct pmp_pprof_columns columns;
	uint64_t *comments; /* texts */
	size_t comment_count, comment_capacity;
	pmp_location *stack; /* of the current sample */
	size_t stack_capacity;
	size_t sample_count, process_count, names_size, labels_size;
	uint64_t counted; /* the sum of counts */
	bool recorded;	  /* the heap was recorded by pmp */
	struct pmp_profile_info info;
	struct pmp_metadata metadata;
	struct pmp_error *refusal; /* why a valid file is refused */
	struct pmp_buf readable;   /* demangled names of a location */
	struct pmp_arena arena;
};

/* ---- pprof-read-tables.c: texts, functions, mappings, locations ------------------------- */

/* Add a field of the profile to its table. 0 or a code of libpmp.h. */
int pmp_pprof_add_field(struct pmp_pprof_reader *reader, const struct pmp_field *field);
/* Set refusal: the file has more than `most` of something. Returns PMP_ELIMIT. */
int pmp_pprof_too_many(struct pmp_pprof_reader *reader, size_t most, const char *what);
/* Do all texts that are referred to exist? */
bool pmp_pprof_check_texts(const struct pmp_pprof_reader *reader);
/* A text, for which pmp_pprof_is_text() holds. */
const char *pmp_pprof_text(const struct pmp_pprof_reader *reader, uint32_t number);
bool pmp_pprof_is_text(const struct pmp_pprof_reader *reader, int64_t number);
/* Convert an index that may be invalid. A text may come after a reference to it, so
 * references are checked by pmp_pprof_check_texts() at the end. */
uint32_t pmp_pprof_text_number(int64_t number);

/* ---- pprof-read-values.c: what is counted, and how the profile came about --------------- */

/*
 * When all tables have been read: find the columns and read the comments. 0 or a code of
 * libpmp.h. PMP_EINVAL: the file does not count what is wanted; reader->refusal says why.
 */
int pmp_pprof_find_values(struct pmp_pprof_reader *reader);
/* The rest of a text after a prefix; NULL: it does not begin with that. */
const char *pmp_pprof_after(const char *text, const char *prefix);

/* Set *value from the word "name=number" in a comment, if there is one. */
void pmp_pprof_take_statistics(const char *line, const char *name, uint64_t *value);
/* The column with that type and unit; -1: there is none. */
int pmp_pprof_find_count(const struct pmp_pprof_reader *reader, const char *name,
			 const char *unit);

/* ---- pprof-read-heap.c: heaps -------------------------------------------------------- */

/* Find the columns of the heap. */
void pmp_pprof_find_heap(struct pmp_pprof_reader *reader);
/* Read a process from a comment "heap: ...". 0, PMP_ELIMIT or PMP_ENOMEM. */
int pmp_pprof_read_process(struct pmp_pprof_reader *reader, const char *line);
/* Read a label into *heap. false: it is another label. */
bool pmp_pprof_read_heap_label(const char *key, int64_t number,
			       struct pmp_pprof_heap *heap);
/* Set *sums from the values and labels of a sample. false: there is nothing in them. */
bool pmp_pprof_make_heap(const struct pmp_pprof_reader *reader, const uint64_t *values,
			 const struct pmp_pprof_heap *heap, struct pmp_heap_sums *sums);

/* ---- pprof-read-samples.c: stacks -------------------------------------------------------- */

/* Count a sample. 0 or a code of libpmp.h. */
int pmp_pprof_read_sample(struct pmp_pprof_reader *reader, const struct pmp_field *field);

#endif
