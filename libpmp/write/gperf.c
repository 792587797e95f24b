/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU profile of gperftools: words of the machine's size, then the lines of
 * /proc/PID/maps. No names: who reads it finds them in the files.
 *
 *     0 3 0 100000 0         header: 3 words follow the second, the period in us
 *     5 3 pc0 pc1 pc2        5 samples of a stack of 3, leaf first
 *     0 1 pc                 see below
 *     0 1 0                  the end
 *     55d0a8000000-55d0a9000000 r-xp 00000000 00:00 0 /usr/sbin/mariadbd
 *
 * Its readers take 1 off every address but the first. They also take the second
 * frame for their own signal handler when most stacks have it, and remove it: such
 * a frame of threads that all wait for a lock. One record in 32 of another kind,
 * counting nothing, keeps them from it.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "report/sort.h"
#include "write/address-layout.h"
#include "write/writer.h"

#define NOWHERE PMP_LAYOUT_NOWHERE
#define SHARE 31 /* records to one that keeps handlers from being found */

static void put_word(struct pmp_out *out, uint64_t word)
{
	/* The width of an address on every machine that pmp runs on. */
	pmp_buf_add(&out->buf, &word, sizeof(word));
}

static void put_record(struct pmp_out *out, const struct pmp_address_layout *layout,
		       const struct pmp_entry *entry)
{
	put_word(out, entry->count);
	put_word(out, entry->location_count ? entry->location_count : 1);
	for (size_t i = 0; i < entry->location_count; i++)
		put_word(out, i ? pmp_layout_return_address(layout, entry->locations[i])
				: pmp_layout_pc(layout, entry->locations[i]));
	if (!entry->location_count)
		put_word(out, NOWHERE);
	pmp_out_maybe_flush(out);
}

static void put_records(struct pmp_out *out, const struct pmp_address_layout *layout,
			const struct pmp_entry *const *entries, size_t count)
{
	const struct pmp_metadata *metadata = &layout->report->metadata;
	uint64_t period;

	period = metadata->period / PMP_US;
	put_word(out, 0);
	put_word(out, 3);
	put_word(out, 0);
	put_word(out, period ? period : 1);
	put_word(out, 0);
	for (size_t i = 0; i < count; i++)
		put_record(out, layout, entries[i]);
	for (size_t i = 0; count && i < count / SHARE + 1; i++) {
		put_word(out, 0);
		put_word(out, 1);
		put_word(out, NOWHERE);
	}
	put_word(out, 0);
	put_word(out, 1);
	put_word(out, 0);
}

static void write_gperf(struct pmp_out *out, const struct pmp_report *report,
			const struct pmp_write_options *options)
{
	struct pmp_address_layout layout = { .report = report };
	const struct pmp_entry **entries = NULL;
	size_t count;

	(void)options;
	if (pmp_sort_entries(report, &entries))
		goto fail;
	count = pmp_sort_found(report, entries);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < entries[i]->location_count; j++)
			if (!pmp_layout_use(&layout, entries[i]->locations[j]))
				goto fail;
	if (pmp_layout_settle(&layout, count ? entries[0]->process : ""))
		goto fail;
	put_records(out, &layout, entries, count);
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
	},
	.write = write_gperf,
};
