/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recorded heap as a page for people: exact totals, then the stacks with the most live
 * memory, and those that allocated most.
 *
 *     memory of mariadbd [4100], 61.2 s, sampled every 512KiB
 *       allocated     40,311,189,088 bytes    malloc 393,431  calloc 12 ...
 *       ...
 *     live  ~84.1KB in ~120 blocks, largest first
 *       ~52.0KB ± 35%   ~3 blocks  oldest 61 s  malloc < my_malloc < main
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write/names.h"
#include "write/writer.h"

#define NS_PER_S 1000000000.0
#define ROWS 50	      /* of each table; the rest is summed up */
#define FRAMES_MAX 16 /* of a stack; svg and pprof have all frames */
#define NUMBER_SIZE 32

/* "40,311,189,088" */
static const char *grouped(uint64_t number, char text[NUMBER_SIZE])
{
	char digits[NUMBER_SIZE];
	size_t count = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
	size_t length = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			text[length++] = ',';
		text[length++] = digits[i];
	}
	text[length] = '\0';
	return text;
}

static void put_seconds(struct pmp_buf *buf, uint64_t time)
{
	const uint64_t tenths = time / (uint64_t)(NS_PER_S / 10);

	pmp_buf_printf(buf, "%" PRIu64 ".%" PRIu64 " s", tenths / 10, tenths % 10);
}

static uint64_t since(uint64_t time, uint64_t start)
{
	return time > start ? time - start : 0;
}

/* ---- exact totals ---------------------------------------------------------------- */

static void put_bytes(struct pmp_buf *buf, const char *what, uint64_t bytes)
{
	char text[NUMBER_SIZE];

	pmp_buf_printf(buf, "  %-18s %18s bytes", what, grouped(bytes, text));
}

static void put_calls(struct pmp_buf *buf, const char *name, uint64_t calls)
{
	char text[NUMBER_SIZE];

	if (calls)
		pmp_buf_printf(buf, "  %s %s", name, grouped(calls, text));
}

static void put_allocated(struct pmp_buf *buf, const struct pmp_process_heap *process)
{
	const struct pmp_heap_totals *totals = &process->totals;

	put_bytes(buf, "allocated", totals->allocated);
	if (totals->allocated)
		pmp_buf_puts(buf, "  ");
	put_calls(buf, "malloc", totals->mallocs);
	put_calls(buf, "calloc", totals->callocs);
	put_calls(buf, "realloc", totals->reallocs);
	put_calls(buf, "memalign", totals->aligned);
	put_calls(buf, "new", totals->news);
	pmp_buf_putc(buf, '\n');
	put_bytes(buf, "freed", totals->freed);
	if (totals->frees)
		pmp_buf_puts(buf, "  ");
	put_calls(buf, "free", totals->frees);
	pmp_buf_putc(buf, '\n');
	if (!process->earlier_allocated)
		return;
	put_bytes(buf, "before an exec", process->earlier_allocated);
	pmp_buf_puts(buf, "  allocated by the programs that it was then\n");
}

static void put_live(struct pmp_buf *buf, const struct pmp_process_heap *process)
{
	const struct pmp_heap_totals *totals = &process->totals;
	char text[NUMBER_SIZE];

	put_bytes(buf, process->ended ? "live at the end" : "live", totals->live);
	pmp_buf_printf(buf, "    %s block%s%s\n", grouped(totals->live_blocks, text),
		       totals->live_blocks == 1 ? "" : "s",
		       process->pid ? "" : ", which are not shown below");
	put_bytes(buf, "peak", totals->peak);
	if (totals->peak_time) {
		pmp_buf_puts(buf, "    after ");
		put_seconds(buf, since(totals->peak_time, totals->start));
	}
	pmp_buf_puts(buf, " (within 64 KiB a thread)\n");
}

static void put_failures(struct pmp_buf *buf, const struct pmp_process_heap *process)
{
	const struct pmp_heap_totals *totals = &process->totals;
	char text[NUMBER_SIZE];

	pmp_buf_printf(buf, "  %-18s %18s", "failed allocations",
		       grouped(totals->failed, text));
	pmp_buf_printf(buf, "          failed reallocs %s   ",
		       grouped(totals->failed_reallocs, text));
	if (totals->rate)
		pmp_buf_puts(buf, "bad frees: only with --heap=exact\n");
	else
		pmp_buf_printf(buf, "frees of unknown blocks %s\n",
			       grouped(process->unknown_frees, text));
}

static void put_size(struct pmp_buf *buf, uint64_t bytes)
{
	char text[PMP_VALUE_SIZE];

	pmp_buf_puts(buf, pmp_format_value(bytes, "bytes", text, sizeof(text)));
}

static void put_growth(struct pmp_buf *buf, const struct pmp_heap_totals *totals)
{
	pmp_buf_puts(buf, "  growth of the heap: ");
	put_size(buf, totals->brk_growth);
	pmp_buf_puts(buf, " by brk, ");
	put_size(buf, totals->mmap_growth);
	pmp_buf_puts(buf, " by mmap, given back ");
	put_size(buf, totals->given_back);
	pmp_buf_putc(buf, '\n');
	if (totals->untracked)
		pmp_buf_printf(buf, "  %" PRIu64 " blocks whose free is not known\n",
			       totals->untracked);
}

/* How much of the totals is in the stacks. */
static void put_missing(struct pmp_buf *buf, const struct pmp_process_heap *process)
{
	const uint64_t missing = pmp_process_heap_missing(process);
	char recorded[NUMBER_SIZE], calls[NUMBER_SIZE], text[NUMBER_SIZE];

	if (!missing)
		return;
	if (process->totals.rate) {
		pmp_buf_printf(buf, "  records missing    %18s\n",
			       grouped(missing, text));
		return;
	}
	put_bytes(buf, "of it in stacks", process->recorded_bytes);
	pmp_buf_printf(buf, "    %s of %s calls, as %s records are missing\n",
		       grouped(process->recorded, recorded),
		       grouped(pmp_process_heap_calls(process), calls),
		       grouped(missing, text));
}

static void put_stackless(struct pmp_buf *buf, const struct pmp_process_heap *process)
{
	const uint64_t stackless = pmp_process_heap_stackless(process);
	char text[NUMBER_SIZE];

	if (stackless)
		pmp_buf_printf(buf,
			       "  without a stack    %18s samples: pmp had not read yet "
			       "where its libraries are mapped\n",
			       grouped(stackless, text));
}

static void put_name(struct pmp_buf *buf, const struct pmp_process_heap *process)
{
	char text[NUMBER_SIZE];

	if (process->pid) {
		pmp_buf_puts(buf, "memory of ");
		pmp_name_word(buf, process->name);
		pmp_buf_printf(buf, " [%d], ", (int)process->pid);
	} else {
		pmp_buf_printf(buf, "memory of %s other processes that have ended, ",
			       grouped(process->others, text));
	}
}

static void put_process(struct pmp_buf *buf, const struct pmp_report *report,
			const struct pmp_process_heap *process)
{
	const struct pmp_heap_totals *totals = &process->totals;

	put_name(buf, process);
	put_seconds(buf, since(pmp_process_heap_time(process, report->heap_time),
			       totals->start ? totals->start : process->first));
	if (totals->state != PMP_HEAP_STATE_RECORDS) {
		pmp_buf_puts(buf, ", totals only");
	} else if (totals->rate) {
		pmp_buf_puts(buf, ", sampled every ");
		put_size(buf, totals->rate);
	} else {
		pmp_buf_puts(buf, pmp_process_heap_missing(process)
					  ? ", every call but some, see below"
					  : ", every call");
	}
	if (totals->allocator == PMP_HEAP_ALLOCATOR_OTHER && *totals->allocator_name) {
		pmp_buf_puts(buf, ", allocator ");
		pmp_name_word(buf, totals->allocator_name);
	}
	pmp_buf_putc(buf, '\n');
	put_allocated(buf, process);
	put_live(buf, process);
	put_failures(buf, process);
	put_growth(buf, totals);
	put_missing(buf, process);
	put_stackless(buf, process);
	pmp_buf_putc(buf, '\n');
}

/* ---- stacks ---------------------------------------------------------------------- */

/* Live memory, or all that was allocated. */
struct memory_side {
	const char *what;
	bool live;
};

static uint64_t bytes_of(const struct pmp_heap_sums *sums, bool live)
{
	return live ? sums->live_bytes : sums->alloc_bytes;
}

/* "~52.0KB ± 35%" */
static void put_estimate(struct pmp_buf *buf, const struct pmp_heap_sums *sums, bool live)
{
	const double variance = live ? sums->live_variance : sums->alloc_variance;
	const uint64_t bytes = bytes_of(sums, live);
	const double percent =
		bytes ? 100 * pmp_square_root(variance) / (double)bytes : 0;
	char text[PMP_VALUE_SIZE], with[PMP_VALUE_SIZE + 2];

	pmp_format_value(bytes, "bytes", text, sizeof(text));
	snprintf(with, sizeof(with), "%s%s", variance > 0 ? "~" : "", text);
	pmp_buf_printf(buf, "%11s", with);
	if (variance > 0) {
		const uint64_t tenths = (uint64_t)(10 * percent + 0.5);

		if (tenths < 100)
			pmp_buf_printf(buf, " ± %" PRIu64 ".%" PRIu64 "%%", tenths / 10,
				       tenths % 10);
		else
			pmp_buf_printf(buf, " ± %3" PRIu64 "%%", tenths / 10);
	}
}

static void put_blocks(struct pmp_buf *buf, const struct pmp_heap_sums *sums, bool live)
{
	const double variance = live ? sums->live_variance : sums->alloc_variance;
	const uint64_t blocks =
		pmp_blocks_of(live ? sums->live_parts : sums->alloc_parts);
	char text[NUMBER_SIZE], with[NUMBER_SIZE + 2];

	snprintf(with, sizeof(with), "%s%s", variance > 0 ? "~" : "",
		 grouped(blocks, text));
	pmp_buf_printf(buf, "  %10s block%s", with, blocks == 1 ? " " : "s");
}

static void put_stack(struct pmp_buf *buf, const struct pmp_report *report,
		      const struct pmp_entry *entry,
		      const struct pmp_write_options *options)
{
	const struct pmp_name_style style = { .lines = options->lines,
					      .module = options->module };
	const char *between = "";
	size_t shown = 0;

	for (size_t i = 0; i < entry->location_count && shown < FRAMES_MAX; i++) {
		const struct pmp_frame *frames;
		size_t count = pmp_report_frames(report, entry->locations[i], &frames);

		for (size_t k = 0; k < count && shown < FRAMES_MAX; k++, shown++) {
			pmp_buf_puts(buf, between);
			pmp_name_frame(buf, &frames[k], &style);
			between = " < ";
		}
	}
	if (shown == FRAMES_MAX) {
		pmp_buf_puts(buf, " < ...");
	} else if (entry->end != PMP_END_ROOT) {
		pmp_buf_puts(buf, between);
		pmp_name_end(buf, entry->end, entry->reason);
	} else if (!entry->location_count) {
		pmp_buf_puts(buf, "[unknown]");
	}
	if (*entry->thread) {
		pmp_buf_puts(buf, "  thread ");
		pmp_name_word(buf, entry->thread);
	}
	pmp_buf_putc(buf, '\n');
}

static int compare_live(const void *a, const void *b)
{
	const struct pmp_entry *const *one = a, *const *other = b;
	const uint64_t its = (*one)->heap->live_bytes,
		       others = (*other)->heap->live_bytes;

	return its != others ? (its < others ? 1 : -1)
			     : (*one > *other) - (*one < *other);
}

static int compare_allocated(const void *a, const void *b)
{
	const struct pmp_entry *const *one = a, *const *other = b;
	const uint64_t its = (*one)->heap->alloc_bytes,
		       others = (*other)->heap->alloc_bytes;

	return its != others ? (its < others ? 1 : -1)
			     : (*one > *other) - (*one < *other);
}

/* "by age: under 1 s 3kB, under 10 s 0B, ..." */
static void put_ages(struct pmp_buf *buf, const struct pmp_heap_sums *sums)
{
	uint64_t aged = 0;
	static const char *const names[PMP_AGES] = { "under 1 s", "10 s",   "1 min",
						     "10 min",	  "1 hour", "more" };

	for (size_t i = 0; i < PMP_AGES; i++)
		aged |= sums->ages[i].bytes;
	/* Profiles of other programs have no ages. */
	if (!aged)
		return;
	pmp_buf_puts(buf, "  by age:");
	for (size_t i = 0; i < PMP_AGES; i++) {
		pmp_buf_printf(buf, "%s %s ", i ? "," : "", names[i]);
		put_size(buf, sums->ages[i].bytes);
	}
	pmp_buf_putc(buf, '\n');
}

static void put_title(struct pmp_buf *buf, const struct pmp_report *report,
		      const struct pmp_heap_sums *all, const struct memory_side *side)
{
	char text[NUMBER_SIZE];
	struct pmp_buf number = { 0 };

	put_estimate(&number, all, side->live);
	if (!pmp_buf_failed(&number))
		pmp_buf_printf(buf, "%s  %s in ", side->what,
			       number.data + strspn(number.data, " "));
	pmp_buf_free(&number);
	pmp_buf_printf(
		buf, "%s%s blocks",
		(side->live ? all->live_variance : all->alloc_variance) > 0 ? "~" : "",
		grouped(pmp_blocks_of(side->live ? all->live_parts : all->alloc_parts),
			text));
	if (side->live && report->heap_age) {
		pmp_buf_puts(buf, " that are older than ");
		put_seconds(buf, report->heap_age);
	}
	pmp_buf_puts(buf, ", largest first");
	if (report->losses.records)
		pmp_buf_printf(buf, "; not exact, as %s records are missing",
			       grouped(report->losses.records, text));
	pmp_buf_putc(buf, '\n');
	if (side->live)
		put_ages(buf, all);
}

static void put_row(struct pmp_buf *buf, const struct pmp_report *report,
		    const struct pmp_entry *entry, bool live,
		    const struct pmp_write_options *options)
{
	put_estimate(buf, entry->heap, live);
	put_blocks(buf, entry->heap, live);
	if (live) {
		const uint64_t seconds =
			(uint64_t)((double)entry->heap->oldest / NS_PER_S);

		pmp_buf_printf(buf, "  oldest %" PRIu64 " s", seconds);
	}
	pmp_buf_puts(buf, "  ");
	put_stack(buf, report, entry, options);
}

/* entries: sorted by this side's bytes. */
static void put_side(struct pmp_out *out, const struct pmp_report *report,
		     const struct pmp_entry *const *entries,
		     const struct memory_side *side,
		     const struct pmp_write_options *options)
{
	struct pmp_heap_sums all = { 0 }, rest = { 0 };
	size_t left = 0;

	for (size_t i = 0; i < report->entry_count; i++)
		pmp_heap_sums_add(&all, entries[i]->heap);
	put_title(&out->buf, report, &all, side);
	for (size_t i = 0; i < report->entry_count; i++) {
		if (!bytes_of(entries[i]->heap, side->live))
			continue;
		if (i < ROWS) {
			put_row(&out->buf, report, entries[i], side->live, options);
			pmp_out_maybe_flush(out);
			continue;
		}
		pmp_heap_sums_add(&rest, entries[i]->heap);
		left++;
	}
	if (left) {
		put_estimate(&out->buf, &rest, side->live);
		put_blocks(&out->buf, &rest, side->live);
		pmp_buf_printf(&out->buf, "  of %zu more stacks\n", left);
	}
}

static void put_losses(struct pmp_buf *buf, const struct pmp_report *report)
{
	const struct pmp_heap_losses *losses = &report->losses;

	if (losses->unrecorded)
		pmp_buf_printf(buf,
			       "\nnot recorded: %" PRIu64 " processes, too many at a "
			       "time or in a pid namespace of their own\n",
			       losses->unrecorded);
	if (!losses->blocks)
		return;
	pmp_buf_printf(buf, "\nnot shown as live: ");
	put_size(buf, losses->bytes);
	pmp_buf_printf(buf, " in %" PRIu64 " blocks, for want of memory (--max-memory)\n",
		       losses->blocks);
}

static int compare_failures(const void *a, const void *b)
{
	const struct pmp_entry *const *one = a, *const *other = b;
	const uint64_t its = (*one)->heap->failures, others = (*other)->heap->failures;

	return its != others ? (its < others ? 1 : -1)
			     : (*one > *other) - (*one < *other);
}

static void put_failure(struct pmp_buf *buf, const struct pmp_report *report,
			const struct pmp_entry *entry,
			const struct pmp_write_options *options)
{
	const uint64_t calls = entry->heap->failures;
	char text[NUMBER_SIZE];

	pmp_buf_printf(buf, "  %10s call%s  largest ", grouped(calls, text),
		       calls == 1 ? " " : "s");
	put_size(buf, entry->heap->largest_failure);
	pmp_buf_puts(buf, "  ");
	put_stack(buf, report, entry, options);
}

/* Calls that got no memory. entries: sorted by failures. */
static void put_failed(struct pmp_out *out, const struct pmp_report *report,
		       const struct pmp_entry *const *entries,
		       const struct pmp_write_options *options)
{
	uint64_t known = 0, all = 0;
	char text[NUMBER_SIZE], of[NUMBER_SIZE];

	for (size_t i = 0; i < report->entry_count; i++)
		known += entries[i]->heap->failures;
	for (size_t i = 0; i < report->process_count; i++)
		all += report->processes[i].totals.failed +
		       report->processes[i].totals.failed_reallocs;
	if (!known)
		return;
	pmp_buf_printf(&out->buf, "\nfailed  %s calls", grouped(known, text));
	if (known < all)
		pmp_buf_printf(&out->buf, " of %s, whose stacks were written down",
			       grouped(all, of));
	pmp_buf_puts(&out->buf, ", most first\n");
	for (size_t i = 0; i < report->entry_count && i < ROWS; i++)
		if (entries[i]->heap->failures)
			put_failure(&out->buf, report, entries[i], options);
}

/* Totals are of all blocks, stacks only of those that were sampled. */
static bool is_unsampled(const struct pmp_report *report, size_t count)
{
	uint64_t allocated = 0;

	for (size_t i = 0; i < count; i++)
		if (bytes_of(report->entries[i].heap, false))
			return false;
	for (size_t i = 0; i < report->process_count; i++)
		if (report->processes[i].totals.rate)
			allocated += report->processes[i].totals.allocated;
	return allocated && !pmp_filter_is_active(report->filter);
}

static bool all_ended(const struct pmp_report *report)
{
	for (size_t i = 0; i < report->process_count; i++)
		if (!report->processes[i].ended)
			return false;
	return report->process_count > 0;
}

static void write_memory(struct pmp_out *out, const struct pmp_report *report,
			 const struct pmp_write_options *options)
{
	const size_t count = report->of_heap ? report->entry_count : 0;
	const struct pmp_entry **entries = calloc(count + 1, sizeof(*entries));
	const bool ended = all_ended(report);
	const struct memory_side live = { ended ? "unfreed" : "live", true };
	const struct memory_side allocated = { "allocated", false };

	if (!entries) {
		pmp_buf_fail(&out->buf);
		return;
	}
	for (size_t i = 0; i < count; i++)
		entries[i] = &report->entries[i];
	for (size_t i = 0; i < report->process_count; i++)
		put_process(&out->buf, report, &report->processes[i]);
	if (!report->process_count && !count)
		pmp_buf_puts(&out->buf, "nothing of memory was recorded\n");
	if (is_unsampled(report, count))
		pmp_buf_puts(&out->buf, "no block was sampled, so there are no stacks to "
					"show: try a smaller --heap=BYTES, or "
					"--heap=exact\n");
	else if (count) {
		qsort(entries, count, sizeof(*entries), compare_live);
		put_side(out, report, entries, &live, options);
		if (ended)
			pmp_buf_puts(&out->buf,
				     "  not necessarily leaks: memory that the "
				     "program still refers to is included\n");
		pmp_buf_putc(&out->buf, '\n');
		qsort(entries, count, sizeof(*entries), compare_allocated);
		put_side(out, report, entries, &allocated, options);
	}
	if (count) {
		qsort(entries, count, sizeof(*entries), compare_failures);
		put_failed(out, report, entries, options);
	}
	put_losses(&out->buf, report);
	free(entries);
}

const struct pmp_writer pmp_writer_memory = {
	.format = {
		.name = "memory",
		.help = "allocated, live and unfreed memory (--heap)",
		.extension = "memory",
		.mime = "text/plain; charset=utf-8",
		.heap = PMP_HEAP_ALONE,
	},
	.write = write_memory,
};
