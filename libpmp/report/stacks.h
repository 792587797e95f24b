/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterates over the stacks of a report, for formats that write both kinds: those of a
 * snapshot (one per thread) or all that were counted (distinct ones with counts).
 */
#ifndef PMP_REPORT_STACKS_H
#define PMP_REPORT_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "report/report.h"

struct pmp_stack {
	pid_t pid, tid;
	const char *process, *thread;
	char state;
	const char *syscall; /* name or number; "": none or unknown */
	const char *wchan;   /* "": unknown */
	enum pmp_end end;
	const char *reason;	       /* why it was not stopped; or "" */
	const pmp_location *locations; /* innermost first */
	size_t location_count;
	uint64_t count, cpu, wall; /* in a snapshot 1, 0 and 0 */
	/* In a snapshot: how it was obtained and where its frames are; else NULL. */
	const struct pmp_row *row;
	const struct pmp_thread *found;
	const struct pmp_raw_frame *raw;
	char digits[16]; /* for a system call without a name */
};

/* Number i of the report's entries (sorted if it is), or of its snapshot's rows. */
size_t pmp_stack_count(const struct pmp_report *report);
void pmp_stack_get(const struct pmp_report *report, size_t i, struct pmp_stack *stack);
void pmp_stack_of_entry(const struct pmp_entry *entry, struct pmp_stack *stack);
/* The address of location i of a stack. */
uint64_t pmp_stack_pc(const struct pmp_report *report, const struct pmp_stack *stack,
		      size_t i);

/* All stacks of a report: a snapshot's by thread id, others sorted. */
struct pmp_stacks {
	const struct pmp_report *report;
	const struct pmp_entry **entries; /* NULL: a snapshot */
	size_t count;
	size_t found; /* unless by_thread: those with only CPU time follow */
};

/* by_thread: sort as pmp_sort_threads(), else as pmp_sort_entries(). Must be freed with
 * pmp_stacks_free() even on failure. 0 or PMP_ENOMEM. */
int pmp_stacks_make(struct pmp_stacks *stacks, const struct pmp_report *report,
		    bool by_thread);
void pmp_stacks_get(const struct pmp_stacks *stacks, size_t i, struct pmp_stack *stack);
void pmp_stacks_free(struct pmp_stacks *stacks);

#endif
