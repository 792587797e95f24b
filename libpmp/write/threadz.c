/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of single threads, without names, as `go tool pprof` reads them:
 *
 *     --- threadz 1 ---
 *
 *     --- Thread 0 (name: conn-17/4102) stack: ---
 *       0x7f31c3a9612b 0x55819ffc71d2
 *     ---- no stack trace for thread 1 (name: conn-18/4103) [evicted]
 *     --- Memory map: ---
 *     55819ffc7000-55819ffc8000 r-xp 00001000 00:00 0 /opt/lab/t
 *
 * The reader subtracts 1 from every address. A stack is repeated as often as it was
 * counted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/sort.h"
#include "write/address-layout.h"
#include "write/names.h"
#include "write/writer.h"

#define TIMES_MAX 10000 /* per stack, to keep the file readable */

static void put_name(struct pmp_buf *buf, const struct pmp_entry *entry)
{
	pmp_buf_puts(buf, "(name: ");
	pmp_name_word(buf, *entry->thread ? entry->thread : entry->process);
	pmp_buf_printf(buf, "/%d)", (int)(entry->tid ? entry->tid : entry->pid));
}

static void put_stack(struct pmp_out *out, const struct pmp_address_layout *layout,
		      const struct pmp_entry *entry, uint64_t number)
{
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(buf, "--- Thread %" PRIx64 " ", number);
	put_name(buf, entry);
	pmp_buf_puts(buf, " stack: ---\n ");
	for (size_t i = 0; i < entry->location_count; i++)
		pmp_buf_printf(buf, " 0x%" PRIx64,
			       pmp_layout_return_address(layout, entry->locations[i]));
	pmp_buf_putc(buf, '\n');
	pmp_out_maybe_flush(out);
}

static void put_absent(struct pmp_out *out, const struct pmp_entry *entry,
		       uint64_t number)
{
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(buf, "---- no stack trace for thread %" PRIx64 " ", number);
	put_name(buf, entry);
	if (entry->end != PMP_END_ROOT)
		pmp_buf_putc(buf, ' ');
	pmp_name_end(buf, entry->end, entry->reason);
	pmp_buf_putc(buf, '\n');
	pmp_out_maybe_flush(out);
}

/* The reader stops at the first thread without a stack, so these come last. */
static void put_threads(struct pmp_out *out, const struct pmp_address_layout *layout,
			const struct pmp_entry *const *entries)
{
	uint64_t number = 0;

	pmp_buf_puts(&out->buf, "--- threadz 1 ---\n\n");
	for (size_t i = 0; i < layout->report->entry_count; i++)
		for (uint64_t k = 0;
		     entries[i]->location_count && k < entries[i]->count && k < TIMES_MAX;
		     k++)
			put_stack(out, layout, entries[i], number++);
	for (size_t i = 0; i < layout->report->entry_count; i++)
		if (!entries[i]->location_count && entries[i]->count)
			put_absent(out, entries[i], number++);
	pmp_buf_puts(&out->buf, "--- Memory map: ---\n");
	pmp_layout_put_maps(layout, true, &out->buf);
}

static void write_threadz(struct pmp_out *out, const struct pmp_report *report,
			  const struct pmp_write_options *options)
{
	struct pmp_address_layout layout = { .report = report };
	const struct pmp_entry **entries = NULL;

	(void)options;
	if (pmp_sort_entries(report, &entries) ||
	    pmp_layout_use_all(&layout, entries, report->entry_count))
		pmp_buf_fail(&out->buf);
	else
		put_threads(out, &layout, entries);
	pmp_layout_free(&layout);
	free(entries);
}

const struct pmp_writer pmp_writer_threadz = {
	.format = {
		.name = "threadz",
		.help = "stacks of threads without names, for go tool pprof",
		.extension = "threadz",
		.mime = "text/plain; charset=utf-8",
		.details = true,
		.repeats = true,
	},
	.write = write_threadz,
};
