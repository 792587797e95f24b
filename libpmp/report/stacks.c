/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "base/syscalls.h"
#include "report/match.h"
#include "report/sort.h"

void pmp_stack_of_entry(const struct pmp_entry *entry, struct pmp_stack *stack)
{
	stack->pid = entry->pid;
	stack->tid = entry->tid;
	stack->process = entry->process;
	stack->thread = entry->thread;
	stack->state = entry->state;
	stack->syscall = entry->syscall;
	stack->wchan = entry->wchan;
	stack->end = entry->end;
	stack->reason = entry->reason;
	stack->locations = entry->locations;
	stack->location_count = entry->location_count;
	stack->count = entry->count;
	stack->cpu = entry->cpu;
	stack->wall = entry->wall;
	stack->row = NULL;
	stack->found = NULL;
	stack->raw = NULL;
}

static void stack_of_row(const struct pmp_snapshot *snapshot, const struct pmp_row *row,
			 struct pmp_stack *stack)
{
	const struct pmp_thread *thread = row->thread;

	stack->pid = snapshot->info.pid;
	stack->tid = thread->tid;
	stack->process = snapshot->info.name;
	stack->thread = thread->name;
	stack->state = thread->state;
	stack->syscall =
		pmp_syscall_text(thread->syscall, stack->digits, sizeof(stack->digits));
	stack->wchan = thread->wchan;
	stack->end = thread->end;
	stack->reason = thread->reason;
	stack->locations = row->locations;
	stack->location_count = thread->frame_count;
	stack->count = 1;
	stack->cpu = stack->wall = 0;
	stack->row = row;
	stack->found = thread;
	stack->raw = row->raw;
}

size_t pmp_stack_count(const struct pmp_report *report)
{
	return report->snapshot ? report->snapshot->row_count : report->entry_count;
}

void pmp_stack_get(const struct pmp_report *report, size_t i, struct pmp_stack *stack)
{
	if (report->snapshot)
		stack_of_row(report->snapshot, &report->snapshot->rows[i], stack);
	else
		pmp_stack_of_entry(
			report->sorted ? report->sorted[i] : &report->entries[i], stack);
}

uint64_t pmp_stack_pc(const struct pmp_report *report, const struct pmp_stack *stack,
		      size_t i)
{
	struct pmp_first_address origin;

	if (stack->raw)
		return stack->raw[i].pc;
	pmp_report_origin(report, stack->locations[i], &origin);
	return origin.pc;
}

int pmp_stacks_make(struct pmp_stacks *stacks, const struct pmp_report *report,
		    bool by_thread)
{
	size_t count = pmp_stack_count(report);

	*stacks = (struct pmp_stacks){ .report = report, .count = count, .found = count };
	if (report->snapshot)
		return 0;
	if (by_thread)
		return pmp_sort_threads(report, &stacks->entries);
	if (pmp_sort_entries(report, &stacks->entries))
		return PMP_ENOMEM;
	stacks->found = pmp_sort_found(report, stacks->entries);
	return 0;
}

void pmp_stacks_get(const struct pmp_stacks *stacks, size_t i, struct pmp_stack *stack)
{
	if (stacks->entries)
		pmp_stack_of_entry(stacks->entries[i], stack);
	else
		pmp_stack_get(stacks->report, i, stack);
}

void pmp_stacks_free(struct pmp_stacks *stacks)
{
	free(stacks->entries);
	*stacks = (struct pmp_stacks){ 0 };
}

/* ---- for programs ---------------------------------------------------------------- */

static size_t matches_found(const struct pmp_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->match_count; i++)
		count += report->matches[i].count || report->matches[i].base_count;
	return count;
}

void pmp_report_info(const struct pmp_report *report, struct pmp_report_info *info)
{
	struct pmp_report_info all = {
		.stacks = pmp_stack_count(report),
		.distinct = report->distinct,
		.counted = report->totals.stacks,
		.shown = report->shown,
		.type = report->metadata.sample_type.type,
		.unit = report->metadata.sample_type.unit,
	};

	if (report->matches) {
		all.stacks = report->match_count;
		all.distinct = matches_found(report);
	}
	pmp_sized_give(info, &all, sizeof(all));
}

static struct pmp_stack_info describe(const struct pmp_report *report,
				      const struct pmp_stack *stack)
{
	return (struct pmp_stack_info){
		.pid = stack->pid,
		.tid = stack->tid,
		.process = stack->process,
		.thread = stack->thread,
		.state = stack->state,
		.syscall = stack->syscall == stack->digits ? "" : stack->syscall,
		.wchan = stack->wchan,
		.reason = stack->reason,
		.end = stack->end == PMP_END_ROOT ? "" : pmp_end_text(stack->end),
		.locations = stack->locations,
		.location_count = stack->location_count,
		.count = stack->count,
		.cpu = stack->cpu,
		.wall = stack->wall,
		.report = report,
	};
}

static struct pmp_stack_info describe_match(const struct pmp_match *match)
{
	struct pmp_stack_info all;
	struct pmp_stack stack;

	pmp_stack_of_entry(match->entry, &stack);
	all = describe(match->report, &stack);
	all.count = match->count;
	all.base_count = match->base_count;
	all.cpu = match->cpu;
	all.wall = match->wall;
	return all;
}

bool pmp_report_stack(const struct pmp_report *report, size_t i,
		      struct pmp_stack_info *info)
{
	struct pmp_stack stack;
	struct pmp_stack_info all;

	if (i >= (report->matches ? report->match_count : pmp_stack_count(report)))
		return false;
	if (report->matches) {
		all = describe_match(&report->matches[i]);
	} else {
		pmp_stack_get(report, i, &stack);
		all = describe(report, &stack);
	}
	pmp_sized_give(info, &all, sizeof(all));
	return true;
}
