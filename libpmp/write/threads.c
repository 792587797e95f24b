/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of threads: how often each was found and in which states, the CPU time it used,
 * and its most frequent stack.
 *
 *         tid   samples     cpu s   cpu%      R%      S%      D%  name     most often in
 *        4102       100      0.12   1.21    2.00   98.00    0.00  conn-17  poll<vio_io_wait
 */
#include <stdlib.h>
#include <string.h>

#include "write/names.h"
#include "report/sort.h"
#include "write/table.h"
#include "write/writer.h"

#define NAME_WIDTH 15
#define SHOWN 3 /* functions of a stack */

struct thread_sums {
	uint64_t count, cpu, wall;
	uint64_t running, asleep, uninterruptible;
	const struct pmp_entry *first; /* its most frequent entry */
	size_t number;		       /* its place by id */
};

static const char legend[] =
	"samples         snapshots that the thread was in\n"
	"cpu s, cpu%     its time on a processor between them, and the share of the whole time\n"
	"R%, S%, D%      of its samples: running, asleep, uninterruptible\n"
	"most often in   its most frequent stack, innermost function first\n\n";

static void add_entry(struct thread_sums *sums, const struct pmp_entry *entry)
{
	sums->count += entry->count;
	sums->cpu += entry->cpu;
	sums->wall += entry->wall;
	if (entry->state == 'R')
		sums->running += entry->count;
	else if (entry->state == 'D')
		sums->uninterruptible += entry->count;
	else if (entry->state == 'S')
		sums->asleep += entry->count;
}

static void add_stack(struct pmp_buf *buf, const struct pmp_report *report,
		      const struct pmp_entry *entry)
{
	static const struct pmp_name_style style = { .elide = true };
	const struct pmp_frame *frames;
	size_t shown = 0;

	if (!entry->location_count && entry->end == PMP_END_ROOT)
		pmp_buf_puts(buf, "[unknown]");
	else if (!entry->location_count)
		pmp_name_end(buf, entry->end, entry->reason);
	for (size_t i = 0; i < entry->location_count && shown < SHOWN; i++) {
		size_t count = pmp_report_frames(report, entry->locations[i], &frames);

		for (size_t j = 0; j < count && shown < SHOWN; j++) {
			if (shown++)
				pmp_buf_putc(buf, '<');
			pmp_name_frame(buf, &frames[j], &style);
		}
	}
}

/* Of a value there are only the stacks that have it: their time is not the thread's. */
static void add_cpu_share(struct pmp_buf *buf, const struct pmp_metadata *metadata,
			  const struct thread_sums *sums)
{
	const bool partial = *metadata->sample_type.type != '\0';

	if (partial && !metadata->duration)
		pmp_buf_printf(buf, "%8s", "-");
	else
		pmp_table_percent(buf, 8, sums->cpu,
				  partial ? metadata->duration : sums->wall);
}

static void add_thread(struct pmp_buf *buf, const struct pmp_report *report,
		       const struct thread_sums *sums)
{
	const struct pmp_entry *first = sums->first;
	struct pmp_buf name = { 0 };
	const struct pmp_metadata *metadata = &report->metadata;

	pmp_name_word(&name, first->thread);
	if (first->tid)
		pmp_buf_printf(buf, "%8d", (int)first->tid);
	else
		pmp_buf_printf(buf, "%8s", "-");
	pmp_table_value(buf, 10, sums->count, &metadata->sample_type);
	pmp_table_seconds(buf, 10, sums->cpu);
	add_cpu_share(buf, metadata, sums);
	pmp_table_percent(buf, 8, sums->running, sums->count);
	pmp_table_percent(buf, 8, sums->asleep, sums->count);
	pmp_table_percent(buf, 8, sums->uninterruptible, sums->count);
	pmp_buf_printf(buf, "  %-*s  ", NAME_WIDTH, name.data ? name.data : "");
	add_stack(buf, report, first);
	pmp_buf_putc(buf, '\n');
	buf->failed |= name.failed;
	pmp_buf_free(&name);
}

/* Equal ones stay in the order of ids. */
static int compare(const void *a, const void *b, void *arg)
{
	const struct thread_sums *one = a, *other = b;
	const enum pmp_sort *sort = arg;
	int order = 0;

	if (*sort == PMP_SORT_NAME)
		order = strcmp(one->first->thread, other->first->thread);
	else if (*sort == PMP_SORT_SAMPLES)
		order = (one->count < other->count) - (one->count > other->count);
	else if (*sort == PMP_SORT_CPU)
		order = (one->cpu < other->cpu) - (one->cpu > other->cpu);
	return order ? order
		     : (one->number > other->number) - (one->number < other->number);
}

/* Sum up entries, sorted by thread, for each thread. Returns the number of threads. */
static size_t add_up(const struct pmp_entry *const *entries, size_t count,
		     struct thread_sums *sums)
{
	size_t threads = 0;

	for (size_t i = 0; i < count; threads++) {
		struct thread_sums *thread = &sums[threads];

		*thread = (struct thread_sums){ .first = entries[i], .number = threads };
		for (; i < count && pmp_sort_same_thread(thread->first, entries[i]); i++)
			add_entry(thread, entries[i]);
	}
	return threads;
}

static void write_threads(struct pmp_out *out, const struct pmp_report *report,
			  const struct pmp_write_options *options)
{
	size_t count = report->entry_count;
	struct thread_sums *sums = calloc(count + 1, sizeof(*sums));
	const struct pmp_entry **entries = NULL;
	enum pmp_sort sort = options->sort;
	struct pmp_buf *buf = &out->buf;
	uint64_t stacks = 0;
	size_t threads;

	if (!sums || pmp_sort_threads(report, &entries)) {
		pmp_buf_fail(buf);
		goto out;
	}
	for (size_t i = 0; i < count; i++)
		stacks += entries[i]->count;
	pmp_table_title(buf, "threads", report, stacks);
	if (options->legend)
		pmp_buf_puts(buf, legend);
	pmp_buf_printf(
		buf,
		"     tid   samples     cpu s    cpu%%      R%%      S%%      D%%  "
		"%-*s  most often in\n",
		NAME_WIDTH, "name");
	threads = add_up(entries, count, sums);
	qsort_r(sums, threads, sizeof(*sums), compare, &sort);
	for (size_t i = 0; i < threads; i++) {
		add_thread(buf, report, &sums[i]);
		pmp_out_maybe_flush(out);
	}
out:
	free(sums);
	free(entries);
}

const struct pmp_writer pmp_writer_threads = {
	.format = {
		.name = "threads",
		.help = "a table of threads: states, CPU time, usual stack",
		.extension = "threads",
		.mime = "text/plain; charset=utf-8",
		.details = true,
		.sorts = 1U << PMP_SORT_TID | 1U << PMP_SORT_SAMPLES | 1U << PMP_SORT_CPU |
			 1U << PMP_SORT_NAME,
	},
	.write = write_threads,
};
