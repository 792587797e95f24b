/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A census with names, for programs that show it themselves. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "census.h"
#include "libpmp-program.h"
#include "write/census-classes.h"
#include "write/writer.h"

struct pmp_named_census {
	struct pmp_census_classes classes;
	struct pmp_census_totals totals;
	struct pmp_sample_info sample;
	char *process;
};

int pmp_named_census_new(const struct pmp_report *report, struct pmp_named_census **named,
			 struct pmp_error *err)
{
	const struct pmp_snapshot *snapshot = report->snapshot;
	struct pmp_named_census *made;

	*named = NULL;
	if (!snapshot || !snapshot->census)
		return pmp_error_set(err, PMP_EINVAL,
				     "cannot read the heap: no data was received");
	made = calloc(1, sizeof(*made));
	if (made)
		made->process = strdup(snapshot->info.name);
	if (!made || !made->process ||
	    pmp_census_classes_make(&made->classes, report, false)) {
		pmp_named_census_free(made);
		return pmp_error_nomem(err, "naming what a heap holds");
	}
	made->totals = snapshot->census->totals;
	made->sample = snapshot->info;
	*named = made;
	return 0;
}

void pmp_named_census_free(struct pmp_named_census *named)
{
	if (!named)
		return;
	pmp_census_classes_free(&named->classes);
	free(named->process);
	free(named);
}

void pmp_named_census_info(const struct pmp_named_census *named,
			   struct pmp_named_census_info *info)
{
	const struct pmp_census_totals *totals = &named->totals;

	*info = (struct pmp_named_census_info){
		.size = sizeof(*info),
		.pid = named->sample.pid,
		.process = named->process,
		.time = named->sample.time,
		.realtime = named->sample.realtime,
		.duration = named->sample.duration,
		.cpu = totals->cpu,
		.classes = named->classes.count,
		.blocks = totals->live.blocks,
		.bytes = totals->live.bytes,
		.mapped = totals->mapped.bytes,
		.kept = totals->cached.bytes + totals->fast.bytes,
		.free = totals->free.bytes + totals->top,
		.arenas = totals->arenas,
		.heap_size = totals->size,
		.swapped = totals->swapped,
		.unread = totals->unread,
		.newer_glibc = totals->glibc,
	};
}

void pmp_named_census_class(const struct pmp_named_census *named, size_t i,
			    struct pmp_named_class *class)
{
	const struct pmp_census_class *item = &named->classes.items[i];

	*class = (struct pmp_named_class){
		.size = sizeof(*class),
		.name = pmp_census_class_name(&named->classes, i),
		.smallest = item->smallest,
		.largest = item->largest,
		.blocks = item->blocks,
		.bytes = item->bytes,
	};
}
