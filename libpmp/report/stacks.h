/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a report one by one, be they those of a snapshot (a thread's each) or all
 * that was counted (distinct ones with their counts): for the formats that write both.
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
	const char *syscall; /* its name or number; "": in none, or not known */
	const char *wchan;   /* "": unknown */
	enum pmp_end end;
	const char *reason;	       /* "", or why it was not stopped */
	const pmp_location *locations; /* innermost first */
	size_t location_count;
	uint64_t count, cpu, wall; /* of a snapshot 1, 0 and 0 */
	/* Of a snapshot: how it was obtained and where its frames are; else NULL. */
	const struct pmp_row *row;
	const struct pmp_thread *found;
	const struct pmp_raw_frame *raw;
	char digits[16]; /* of a system call without a name */
};

/* Number i of the report's entries, in their order or the sorted one, or of the rows of
 * its snapshot. */
size_t pmp_stack_count(const struct pmp_report *report);
void pmp_stack_get(const struct pmp_report *report, size_t i, struct pmp_stack *stack);
void pmp_stack_of_entry(const struct pmp_entry *entry, struct pmp_stack *stack);
/* The address of its location i. */
uint64_t pmp_stack_pc(const struct pmp_report *report, const struct pmp_stack *stack,
		      size_t i);

/* All stacks of a report: those of a snapshot by thread id, others in an order. */
struct pmp_stacks {
	const struct pmp_report *report;
	const struct pmp_entry **entries; /* NULL: of a snapshot */
	size_t count;
	size_t found; /* unless by_thread: after them those with CPU time only */
};

/* by_thread: see pmp_sort_threads(), else pmp_sort_entries(). To be freed with
 * pmp_stacks_free() also after a failure. 0 or PMP_ENOMEM. */
int pmp_stacks_make(struct pmp_stacks *stacks, const struct pmp_report *report,
		    bool by_thread);
void pmp_stacks_get(const struct pmp_stacks *stacks, size_t i, struct pmp_stack *stack);
void pmp_stacks_free(struct pmp_stacks *stacks);

#endif
