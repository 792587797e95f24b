/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matching by name: each name gets a number, and a stack is identified by the numbers of
 * its names.
 */
#include "report/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"
#include "report/diff.h"

struct matcher {
	struct pmp_intern *names;
	struct pmp_intern *stacks; /* sequences of name numbers, one per match */
	struct pmp_match *matches; /* room for the entries of both reports */
	struct pmp_buf key;
};

static void add_number(struct matcher *matcher, uint32_t number)
{
	pmp_buf_add(&matcher->key, &number, sizeof(number));
}

static void add_name(struct matcher *matcher, const char *name)
{
	uint32_t number = pmp_intern(matcher->names, name, strlen(name));

	if (number == PMP_INTERN_NONE)
		pmp_buf_fail(&matcher->key);
	add_number(matcher, number);
}

/* The key that tells stacks apart. process: the name to use for its process. */
static void make_key(struct matcher *matcher, const struct pmp_report *report,
		     const struct pmp_entry *entry, const char *process)
{
	pmp_buf_clear(&matcher->key);
	add_name(matcher, process);
	add_name(matcher, entry->thread);
	add_number(matcher, entry->end);
	add_name(matcher, entry->reason);
	for (size_t i = 0; i < entry->location_count; i++) {
		const struct pmp_frame *frames;
		size_t count = pmp_report_frames(report, entry->locations[i], &frames);

		for (size_t j = 0; j < count; j++)
			add_name(matcher, frames[j].function);
	}
}

/* A file may claim counts whose sum overflows. */
static void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static int add_entry(struct matcher *matcher, const struct pmp_report *report,
		     const struct pmp_entry *entry, bool is_base)
{
	size_t count = pmp_intern_count(matcher->stacks);
	struct pmp_match *match;
	uint32_t number;

	if (pmp_buf_failed(&matcher->key))
		return PMP_ENOMEM;
	number = pmp_intern(matcher->stacks, matcher->key.data, matcher->key.length);
	if (number == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	match = &matcher->matches[number];
	if (number == count)
		*match = (struct pmp_match){ .report = report, .entry = entry };
	add_up(is_base ? &match->base_count : &match->count, entry->count);
	if (!is_base) {
		add_up(&match->cpu, entry->cpu);
		add_up(&match->wall, entry->wall);
	}
	return 0;
}

/* process: one name for all processes; NULL: use their own. */
static int add_entries(struct matcher *matcher, const struct pmp_report *report,
		       const char *process, bool is_base)
{
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct pmp_entry *entry = &report->entries[i];

		/* CPU time in the base is not compared. */
		if (is_base && !entry->count)
			continue;
		make_key(matcher, report, entry, process ? process : entry->process);
		if (add_entry(matcher, report, entry, is_base))
			return PMP_ENOMEM;
	}
	return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The most frequent first; of equal ones, those of the report before those of its base, each
 * in the order of its entries, which are elements of one array. */
static int compare_matches(const void *a, const void *b)
{
	const struct pmp_match *one = a, *other = b;
	int order = compare_numbers(other->count, one->count);

	if (!order)
		order = compare_numbers(other->base_count, one->base_count);
	if (!order && one->report != other->report)
		order = one->report->base ? -1 : 1;
	if (!order)
		order = compare_numbers((uintptr_t)one->entry, (uintptr_t)other->entry);
	return order;
}

static int match(struct matcher *matcher, struct pmp_report *report)
{
	const struct pmp_report *base = report->base;

	matcher->names = pmp_intern_new();
	matcher->stacks = pmp_intern_new();
	matcher->matches = calloc(report->entry_count + base->entry_count + 1,
				  sizeof(*matcher->matches));
	if (!matcher->names || !matcher->stacks || !matcher->matches ||
	    add_entries(matcher, report, NULL, false) ||
	    add_entries(matcher, base, pmp_diff_process(report, base), true))
		return PMP_ENOMEM;
	report->matches = matcher->matches;
	report->match_count = pmp_intern_count(matcher->stacks);
	matcher->matches = NULL;
	if (report->is_sorted)
		qsort(report->matches, report->match_count, sizeof(*report->matches),
		      compare_matches);
	return 0;
}

int pmp_match_make(struct pmp_report *report)
{
	struct matcher matcher = { 0 };
	int code = match(&matcher, report);

	pmp_intern_free(matcher.names);
	pmp_intern_free(matcher.stacks);
	free(matcher.matches);
	pmp_buf_free(&matcher.key);
	return code;
}
