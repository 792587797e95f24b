/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the page of -f locks (write/locks.c): parts of a line, rows of threads
 * that wait alike, and the choice of threads for a block.
 */
#ifndef PMP_WRITE_LOCK_TEXT_H
#define PMP_WRITE_LOCK_TEXT_H

#include "report/wait-graph.h"
#include "write/writer.h"

struct pmp_lock_text {
	struct pmp_out *out;
	struct pmp_wait_graph graph;
	const struct pmp_write_options *options;
	bool has_times; /* of some thread it is known how long it has slept */
};

/* Some nodes of the graph. */
struct pmp_lock_nodes {
	size_t *items;
	size_t count;
};

/* Consecutive nodes that belong together. */
struct pmp_lock_run {
	const size_t *items;
	size_t count;
};

/* ---- of a node -------------------------------------------------------------------------- */

static inline const struct pmp_thread *pmp_lock_thread(const struct pmp_lock_text *text,
						       size_t node)
{
	return text->graph.report->snapshot->rows[node].thread;
}

static inline const struct pmp_named_wait *
pmp_lock_named(const struct pmp_lock_text *text, size_t node)
{
	return &text->graph.nodes[node].named;
}

static inline const struct pmp_wait *pmp_lock_wait(const struct pmp_lock_text *text,
						   size_t node)
{
	return text->graph.nodes[node].wait;
}

/* The object outside its memory that it waits for, or NULL. */
static inline const struct pmp_outside *pmp_lock_outside(const struct pmp_lock_text *text,
							 size_t node)
{
	return pmp_snapshot_outside(text->graph.report->snapshot,
				    pmp_lock_wait(text, node));
}

/* ns; 0: unknown */
static inline uint64_t pmp_lock_asleep(const struct pmp_lock_text *text, size_t node)
{
	const struct pmp_sample_info *info = &text->graph.report->snapshot->info;
	uint64_t since = pmp_lock_thread(text, node)->asleep_since,
		 now = info->time + info->duration;

	return since && since < now ? now - since : 0;
}

/* See pmp_named_found_for(). */
static inline uint64_t pmp_lock_found_for(const struct pmp_lock_text *text, size_t node)
{
	const struct pmp_snapshot *snapshot = text->graph.report->snapshot;

	return pmp_named_found_for(snapshot, &snapshot->rows[node],
				   pmp_lock_named(text, node));
}

/* ---- into the buffer ---------------------------------------------------------------- */

/* Ends a line; what exceeds the width of the terminal is cut off. */
void pmp_lock_text_end_line(const struct pmp_lock_text *text, size_t start);
/* "2 threads wait", "1 thread waits" */
void pmp_lock_text_threads(struct pmp_buf *buf, size_t count);
void pmp_lock_text_indent(struct pmp_buf *buf, unsigned indent);
/* ns, as "0.2 s" */
void pmp_lock_text_time(struct pmp_buf *buf, uint64_t time);
/* 12984 "worker-1" */
void pmp_lock_text_thread(const struct pmp_lock_text *text, size_t node);
/* mutex LOCK_log, 0x5615d6f793c0; or: mutex 0x7f31b8001a40 in the heap */
void pmp_lock_text_object(const struct pmp_lock_text *text, size_t node);
/* For several objects "5 conditions (metadata lock)"; else as pmp_lock_text_object(). */
void pmp_lock_text_objects(const struct pmp_lock_text *text,
			   const struct pmp_lock_run *run);
/* The number of different objects; nodes must be sorted by object. */
size_t pmp_lock_count_objects(const struct pmp_lock_text *text,
			      const struct pmp_lock_run *run);
/* Does it wait for another process, but not for a lock? Its rows then name the process. */
bool pmp_lock_is_event_outside(const struct pmp_lock_text *text, size_t node);
/* Innermost function first. */
void pmp_lock_text_stack(const struct pmp_lock_text *text, size_t node);
/* One row for all threads of a group with the same stack, the most threads first. */
void pmp_lock_text_rows(struct pmp_lock_text *text, const struct pmp_lock_run *run,
			unsigned indent);

/* ---- choosing nodes ------------------------------------------------------------------ */

/* Is this node wanted? of: the node that it must relate to, or 0. */
typedef bool pmp_lock_choice(const struct pmp_lock_text *text, size_t node, size_t of);
/* The run of nodes from first on that belong together. */
typedef struct pmp_lock_run pmp_lock_alike(const struct pmp_lock_text *text,
					   const struct pmp_lock_nodes *nodes,
					   size_t first);

/* The nodes not yet shown that chosen() accepts, sorted by object; to be freed. */
struct pmp_lock_nodes pmp_lock_choose(struct pmp_lock_text *text, pmp_lock_choice *chosen,
				      size_t of);
/* The nodes from first on that wait for the same object with the same holder. */
struct pmp_lock_run pmp_lock_same_object(const struct pmp_lock_text *text,
					 const struct pmp_lock_nodes *nodes,
					 size_t first);
/* The nodes from first on that wait for the same kind of object with the same meaning. */
struct pmp_lock_run pmp_lock_same_kind(const struct pmp_lock_text *text,
				       const struct pmp_lock_nodes *nodes, size_t first);
/* Objects that have a meaning, or are unknown, form one run per kind. */
struct pmp_lock_run pmp_lock_same_unknown(const struct pmp_lock_text *text,
					  const struct pmp_lock_nodes *nodes,
					  size_t first);
/* For qsort() of runs: the most nodes first, else in the present order. */
int pmp_lock_by_length(const void *a, const void *b);
/* Split the nodes into runs, the longest first; to be freed. NULL: no memory. */
struct pmp_lock_run *pmp_lock_runs(struct pmp_lock_text *text,
				   struct pmp_lock_nodes *nodes, pmp_lock_alike *alike,
				   size_t *count);

#endif
