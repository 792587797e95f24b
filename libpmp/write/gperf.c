/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU profile of gperftools: machine words, then the lines of /proc/PID/maps. It has
 * no names: readers look them up in the files.
 *
 *     0 3 0 100000 0         header: 3 words follow the second, the period in us, or 1
 *     5 3 pc0 pc1 pc2        5 samples of a stack of 3, leaf first
 *     0 1 pc                 see below
 *     0 1 0                  the end
 *     55d0a8000000-55d0a9000000 r-xp 00000000 00:00 0 /usr/sbin/mariadbd
 *
 * Readers subtract 1 from every address but the first. If most stacks have the same
 * second frame, they take it for the profiler's own signal handler and remove it; threads
 * that all wait for a lock have such a frame. So one record in 32 is a different one that
 * counts nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "report/sort.h"
#include "write/address-layout.h"
#include "write/writer.h"

#define NOWHERE PMP_LAYOUT_NOWHERE
#define SHARE 31 /* real records per record that hides such a frame */

static void put_word(struct pmp_out *out, uint64_t word)
{
	/* An address has this width on every machine that pmp supports. */
	pmp_buf_add(&out->buf, &word, sizeof(word));
}

/* What is counted for a stack: how often it was found, or a time in ms. */
struct measure {
	bool cpu, wall;	      /* neither: how often */
	uint64_t period;      /* in the header, us */
	uint64_t passed, put; /* time so far, ns; written so far, ms */
};

static struct measure measure_of(const struct pmp_report *report,
				 const struct pmp_write_options *options)
{
	const uint64_t period = report->metadata.period / PMP_US;
	struct measure measure = { .period = period ? period : 1 };

	if (!options->value)
		return measure;
	measure.cpu = !strcmp(options->value, "cpu");
	measure.wall = !strcmp(options->value, "wall");
	if (measure.cpu || measure.wall)
		measure.period = PMP_MS / PMP_US;
	return measure;
}

/* Fractions of a ms carry over to the next stacks, so that the sum is right. */
static uint64_t measure_entry(struct measure *measure, const struct pmp_entry *entry)
{
	uint64_t before = measure->put;

	if (!measure->cpu && !measure->wall)
		return entry->count;
	measure->passed += measure->cpu ? entry->cpu : entry->wall;
	measure->put = measure->passed / PMP_MS;
	return measure->put - before;
}

static void put_record(struct pmp_out *out, const struct pmp_address_layout *layout,
		       const struct pmp_entry *entry, uint64_t count)
{
	put_word(out, count);
	put_word(out, entry->location_count ? entry->location_count : 1);
	for (size_t i = 0; i < entry->location_count; i++)
		put_word(out, i ? pmp_layout_return_address(layout, entry->locations[i])
				: pmp_layout_pc(layout, entry->locations[i]));
	if (!entry->location_count)
		put_word(out, NOWHERE);
	pmp_out_maybe_flush(out);
}

static void put_records(struct pmp_out *out, const struct pmp_address_layout *layout,
			const struct pmp_entry *const *entries, size_t count,
			struct measure *measure)
{
	size_t records = 0;

	put_word(out, 0);
	put_word(out, 3);
	put_word(out, 0);
	put_word(out, measure->period);
	put_word(out, 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t counted = measure_entry(measure, entries[i]);

		if (!counted)
			continue;
		put_record(out, layout, entries[i], counted);
		records++;
	}
	for (size_t i = 0; records && i < records / SHARE + 1; i++) {
		put_word(out, 0);
		put_word(out, 1);
		put_word(out, NOWHERE);
	}
	put_word(out, 0);
	put_word(out, 1);
	put_word(out, 0);
}

/* CPU time may belong to threads that were never found with a stack. */
static size_t count_shown(const struct pmp_report *report,
			  const struct pmp_entry *const *entries,
			  const struct measure *measure)
{
	return measure->cpu ? report->entry_count : pmp_sort_found(report, entries);
}

static void write_gperf(struct pmp_out *out, const struct pmp_report *report,
			const struct pmp_write_options *options)
{
	struct pmp_address_layout layout = { .report = report };
	struct measure measure = measure_of(report, options);
	const struct pmp_entry **entries = NULL;
	size_t count;

	if (pmp_sort_entries(report, &entries))
		goto fail;
	count = count_shown(report, entries, &measure);
	if (pmp_layout_use_all(&layout, entries, count))
		goto fail;
	put_records(out, &layout, entries, count, &measure);
	pmp_layout_put_maps(&layout, false, &out->buf);
	goto out;
fail:
	pmp_buf_fail(&out->buf);
out:
	pmp_layout_free(&layout);
	free(entries);
}

const struct pmp_writer pmp_writer_gperf = {
	.format = {
		.name = "gperf",
		.help = "CPU profile of gperftools, for google-pprof",
		.extension = "prof",
		.mime = "application/octet-stream",
		.binary = true,
		.values = true,
	},
	.write = write_gperf,
};
