/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scale of a comparison, and the notes about it. */
#include "report/diff.h"

#include <string.h>

#include "base/sized.h"
#include "tally/heap-sums.h"

/* 0: unknown. */
static uint64_t rounds(const struct pmp_report *report)
{
	return report->metadata.guessed ? 0 : report->totals.rounds;
}

bool pmp_report_is_of_heap(const struct pmp_report *report)
{
	enum pmp_heap_value value;

	return pmp_heap_value_find(report->metadata.sample_type.type, &value);
}

struct pmp_scale pmp_diff_scale(const struct pmp_report *report,
				const struct pmp_report *base)
{
	struct pmp_scale scale = { .to = rounds(report), .from = rounds(base) };

	/* Bytes in use do not grow with the number of rounds, nor may the values of other
	 * programs. */
	if (pmp_report_is_of_heap(base) ||
	    ((!scale.to || !scale.from) && *base->metadata.sample_type.type)) {
		scale.to = scale.from = 1;
	} else if (!scale.to || !scale.from) {
		/* Also of what filters leave out. */
		scale = (struct pmp_scale){ .to = report->totals.stacks,
					    .from = base->totals.stacks,
					    .by_totals = true };
	}
	/* Avoid a scale of 0 or a division by 0. */
	if (!scale.to || !scale.from)
		scale.to = scale.from = 1;
	return scale;
}

double pmp_diff_scaled(const struct pmp_scale *scale, uint64_t count)
{
	return (double)count * (double)scale->to / (double)scale->from;
}

/* The name shared by all processes of the report, or NULL. */
static const char *only_process(const struct pmp_report *report)
{
	const struct pmp_entry *first = report->entries;

	for (size_t i = 1; i < report->entry_count; i++)
		if (strcmp(first[i].process, first->process) != 0)
			return NULL;
	return report->entry_count ? first->process : NULL;
}

const char *pmp_diff_process(const struct pmp_report *report,
			     const struct pmp_report *base)
{
	const char *name = only_process(report), *other = only_process(base);

	return name && other && strcmp(name, other) != 0 ? name : NULL;
}

void pmp_report_diff_info(const struct pmp_report *report, struct pmp_diff_info *info)
{
	const struct pmp_report *base = report->base;
	const struct pmp_scale scale = pmp_diff_scale(report, base);
	struct pmp_diff_info all = {
		.factor = pmp_diff_scaled(&scale, 1),
		.by_totals = scale.by_totals,
		.counted = rounds(report) > 0,
		.base_counted = rounds(base) > 0,
		.process = pmp_diff_process(report, base),
	};

	if (all.process)
		all.base_process = only_process(base);
	pmp_sized_give(info, &all, sizeof(all));
}
