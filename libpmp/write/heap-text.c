/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap profile of gperftools as text, which google-pprof and `go tool pprof` read:
 * live blocks and bytes, and in brackets all that was allocated.
 *
 *     heap profile:     84:   541860 [   354: 77984000] @ heapprofile
 *         77:        0 [    77: 61330000] @ 0x7f31c3a9612b 0x55819ffc71d2
 *
 *     MAPPED_LIBRARIES:
 *     55819ffc7000-55819ffc8000 r-xp 00001000 00:00 0 /opt/lab/t
 *
 * With "heapprofile" readers take the numbers as they are: pmp estimates block by block.
 * With "heap_v2" readers would estimate themselves, from the mean block size of each
 * line. The format growth has the same form: what the allocator took from the kernel.
 */
#include "write/heap-text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/sort.h"
#include "write/address-layout.h"

/* Signed: a change may be negative. */
struct heap_line {
	int64_t live, live_bytes, all, all_bytes;
};

/* Readers reject bytes without a block. */
static int64_t blocks_of(int64_t blocks, int64_t bytes)
{
	return blocks || !bytes ? blocks : bytes > 0 ? 1 : -1;
}

static struct heap_line line_of(const struct pmp_heap_sums *sums, bool growth)
{
	const struct pmp_heap_counts *then = &sums->then;
	struct heap_line line;

	if (growth) {
		line.live = line.all = pmp_heap_change(sums->growths, then->growths);
		line.live_bytes = line.all_bytes =
			pmp_heap_change(sums->growth_bytes, then->growth_bytes);
		return line;
	}
	line.live_bytes = pmp_heap_change(sums->live_bytes, then->live_bytes);
	line.all_bytes = pmp_heap_change(sums->alloc_bytes, then->alloc_bytes);
	line.live = blocks_of(pmp_blocks_change(sums->live_parts, then->live_parts),
			      line.live_bytes);
	line.all = blocks_of(pmp_blocks_change(sums->alloc_parts, then->alloc_parts),
			     line.all_bytes);
	return line;
}

static bool is_empty(const struct heap_line *line)
{
	return !line->live && !line->live_bytes && !line->all && !line->all_bytes;
}

static bool is_less(const struct heap_line *line)
{
	return line->live < 0 || line->live_bytes < 0;
}

static void put_line(struct pmp_buf *buf, const struct heap_line *line)
{
	pmp_buf_printf(buf, "%6" PRId64 ": %8" PRId64 " [%6" PRId64 ": %8" PRId64 "] @",
		       line->live, line->live_bytes, line->all, line->all_bytes);
}

static void put_addresses(struct pmp_buf *buf, const struct pmp_address_layout *layout,
			  const struct pmp_entry *entry)
{
	for (size_t i = 0; i < entry->location_count; i++)
		pmp_buf_printf(buf, " 0x%" PRIx64,
			       pmp_layout_return_address(layout, entry->locations[i]));
	/* A line must have an address to count as a stack. */
	if (!entry->location_count)
		pmp_buf_printf(buf, " 0x%x", PMP_LAYOUT_NOWHERE);
	pmp_buf_putc(buf, '\n');
}

/* Readers skip lines that begin with #. */
static void put_losses(struct pmp_buf *buf, const struct pmp_report *report)
{
	uint64_t calls = 0, bytes = 0;

	if (!report->losses.records)
		return;
	for (size_t i = 0; i < report->process_count; i++) {
		const struct pmp_process_heap *process = &report->processes[i];

		calls += pmp_process_heap_calls(process);
		bytes += process->earlier_allocated + process->totals.allocated;
	}
	pmp_buf_printf(buf,
		       "# not exact: %" PRIu64
		       " records are missing; allocated in all: %" PRIu64
		       " usable bytes by %" PRIu64 " calls\n",
		       report->losses.records, bytes, calls);
}

/* google-pprof silently drops lines with negative numbers. */
static void put_less(struct pmp_buf *buf, size_t less)
{
	if (less)
		pmp_buf_printf(buf,
			       "# stacks that have less than before: %zu; "
			       "google-pprof leaves them out\n",
			       less);
}

static void put_profile(struct pmp_out *out, const struct pmp_address_layout *layout,
			const struct pmp_entry *const *entries, bool growth)
{
	const size_t count = layout->report->entry_count;
	struct heap_line total = { 0 };
	size_t less = 0;

	for (size_t i = 0; i < count; i++) {
		const struct heap_line line = line_of(entries[i]->heap, growth);

		total.live += line.live;
		total.live_bytes += line.live_bytes;
		total.all += line.all;
		total.all_bytes += line.all_bytes;
		less += is_less(&line);
	}
	pmp_buf_puts(&out->buf, "heap profile: ");
	put_line(&out->buf, &total);
	pmp_buf_puts(&out->buf, growth ? " growth\n" : " heapprofile\n");
	put_losses(&out->buf, layout->report);
	put_less(&out->buf, less);
	for (size_t i = 0; i < count; i++) {
		const struct heap_line line = line_of(entries[i]->heap, growth);

		if (is_empty(&line))
			continue;
		put_line(&out->buf, &line);
		put_addresses(&out->buf, layout, entries[i]);
		pmp_out_maybe_flush(out);
	}
	pmp_buf_puts(&out->buf, "\nMAPPED_LIBRARIES:\n");
	pmp_layout_put_maps(layout, true, &out->buf);
}

void pmp_heap_text_write(struct pmp_out *out, const struct pmp_report *report,
			 bool growth)
{
	struct pmp_address_layout layout = { .report = report };
	const struct pmp_entry **entries = NULL;

	if (!report->of_heap)
		pmp_buf_puts(&out->buf, "heap profile: 0: 0 [0: 0] @ heapprofile\n");
	else if (pmp_sort_entries(report, &entries) ||
		 pmp_layout_use_all(&layout, entries, report->entry_count))
		pmp_buf_fail(&out->buf);
	else
		put_profile(out, &layout, entries, growth);
	pmp_layout_free(&layout);
	free(entries);
}
