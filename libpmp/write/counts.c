/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each stack was found, as text for people and for `go tool pprof`: the format
 * of Go's own profiles with debug=1.
 *
 *     threads profile: total 12
 *     11 @ 0x7f31c3a9612b 0x55819ffc71d2
 *     # 0x7f31c3a9612b __poll
 *     # 0x55819ffc71d2 wait_for_work
 *
 *     --- Memory map: ---
 *     55819ffc7000-55819ffc8000 r-xp 00001000 00:00 0 /opt/lab/t
 *
 * Its reader subtracts 1 from every address.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/sort.h"
#include "write/address-layout.h"
#include "write/names.h"
#include "write/writer.h"

static uint64_t address_of(const struct pmp_address_layout *layout,
			   const struct pmp_entry *entry, size_t i)
{
	return i < entry->location_count
		       ? pmp_layout_return_address(layout, entry->locations[i])
		       : PMP_LAYOUT_NOWHERE;
}

static void put_addresses(struct pmp_buf *buf, const struct pmp_address_layout *layout,
			  const struct pmp_entry *entry)
{
	pmp_buf_printf(buf, "%" PRIu64 " @", entry->count);
	/* A line must have an address to count as a stack. */
	for (size_t i = 0; i == 0 || i < entry->location_count; i++)
		pmp_buf_printf(buf, " 0x%" PRIx64, address_of(layout, entry, i));
	pmp_buf_putc(buf, '\n');
}

static void put_names(struct pmp_buf *buf, const struct pmp_address_layout *layout,
		      const struct pmp_entry *entry,
		      const struct pmp_write_options *options)
{
	const struct pmp_name_style style = { .lines = options->lines,
					      .module = options->module };

	for (size_t i = 0; i < entry->location_count; i++) {
		const struct pmp_frame *frames;
		size_t count =
			pmp_report_frames(layout->report, entry->locations[i], &frames);

		for (size_t k = 0; k < count; k++) {
			pmp_buf_printf(buf, "# 0x%" PRIx64 " ",
				       address_of(layout, entry, i));
			pmp_name_frame(buf, &frames[k], &style);
			pmp_buf_putc(buf, '\n');
		}
	}
	if (entry->end != PMP_END_ROOT) {
		pmp_buf_puts(buf, "# ");
		pmp_name_end(buf, entry->end, entry->reason);
		pmp_buf_putc(buf, '\n');
	}
	pmp_buf_putc(buf, '\n');
}

static void put_counts(struct pmp_out *out, const struct pmp_address_layout *layout,
		       const struct pmp_entry *const *entries,
		       const struct pmp_write_options *options)
{
	const size_t count = layout->report->entry_count;
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += entries[i]->count;
	pmp_buf_printf(&out->buf, "threads profile: total %" PRIu64 "\n", total);
	for (size_t i = 0; i < count; i++) {
		if (!entries[i]->count)
			continue;
		put_addresses(&out->buf, layout, entries[i]);
		put_names(&out->buf, layout, entries[i], options);
		pmp_out_maybe_flush(out);
	}
	pmp_buf_puts(&out->buf, "--- Memory map: ---\n");
	pmp_layout_put_maps(layout, true, &out->buf);
}

static void write_counts(struct pmp_out *out, const struct pmp_report *report,
			 const struct pmp_write_options *options)
{
	struct pmp_address_layout layout = { .report = report };
	const struct pmp_entry **entries = NULL;

	if (pmp_sort_entries(report, &entries) ||
	    pmp_layout_use_all(&layout, entries, report->entry_count))
		pmp_buf_fail(&out->buf);
	else
		put_counts(out, &layout, entries, options);
	pmp_layout_free(&layout);
	free(entries);
}

const struct pmp_writer pmp_writer_counts = {
	.format = {
		.name = "counts",
		.help = "how often each stack was found, for go tool pprof",
		.extension = "counts",
		.mime = "text/plain; charset=utf-8",
	},
	.write = write_counts,
};
