/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a contention profile of gperftools, which google-pprof and `go tool pprof`
 * read. Lines that begin with # are for people.
 *
 *     --- contentionz 1 ---
 *     cycles/second = 1000000000
 *     ...
 *        5000000      5 @ 0x55819ffc7189 0x55819ffc71d2 0x55819ffc7268
 *     # 41 samples: pthread_mutex_lock<take<run
 *     --- Memory map: ---
 *     55819ffc7000-55819ffc8000 r-xp 00001000 00:00 0 /opt/lab/t
 *
 * Readers subtract 1 from every address, google-pprof from all but the first. A stack
 * without addresses gets one, in a mapping named after its mark.
 */
#include "write/delay-text.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "write/address-layout.h"
#include "write/names.h"
#include "write/pprof.h"

#define MARK_SIZE ((uint64_t)0x1000) /* size and first address of the mappings of marks */
#define MARK_START ((uint64_t)0x1000)

static void put_head(struct pmp_out *out, const struct pmp_delays *delays,
		     enum pmp_delays_of of)
{
	const struct pmp_report *report = delays->report;
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(
		buf,
		"--- contentionz 1 ---\n"
		"# pmp %s: for how long threads waited for locks, by the stacks of "
		"%s\n",
		pmp_version(),
		of == PMP_DELAYS_OF_WAITERS ? "those that waited"
					    : "those that held them");
	if (delays->samples) {
		pmp_buf_printf(buf, "# %" PRIu64 " samples of waiting threads",
			       delays->samples);
		if (!report->metadata.guessed)
			pmp_buf_printf(buf, ", in %" PRIu64 " snapshots",
				       report->totals.samples);
		pmp_buf_putc(buf, '\n');
	}
	if (report->totals.evicted)
		pmp_buf_printf(buf,
			       "# %" PRIu64 " stacks were evicted (--max-memory): their "
			       "delays have no functions\n",
			       report->totals.evicted);
	pmp_buf_printf(buf,
		       "# first nanoseconds, an estimate; then waits, those that were "
		       "found (there were more)\n"
		       "cycles/second = 1000000000\n"
		       "sampling period = 1\n"
		       "ms since reset = %" PRIu64 "\n"
		       "discarded samples = 0\n",
		       (uint64_t)(report->metadata.duration / PMP_MS));
}

static void put_names(struct pmp_buf *buf, const struct pmp_report *report,
		      const struct pmp_delay *delay)
{
	static const struct pmp_name_style style = { .elide = true };
	bool first = true;

	for (size_t i = 0; i < delay->location_count; i++) {
		const struct pmp_frame *frames;
		size_t count = pmp_report_frames(report, delay->locations[i], &frames);

		for (size_t k = 0; k < count; k++) {
			if (!first)
				pmp_buf_putc(buf, '<');
			pmp_name_frame(buf, &frames[k], &style);
			first = false;
		}
	}
	pmp_escape_buf(buf, delay->mark, strlen(delay->mark));
}

/* marks: the number of marks before this one. */
static void put_stack(struct pmp_out *out, const struct pmp_address_layout *layout,
		      const struct pmp_delay *delay, size_t marks)
{
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(buf, "%12" PRIu64 " %6" PRIu64 " @", delay->delay,
		       delay->contentions);
	for (size_t i = 0; i < delay->location_count; i++)
		pmp_buf_printf(buf, " 0x%" PRIx64,
			       pmp_layout_return_address(layout, delay->locations[i]));
	if (!delay->location_count)
		pmp_buf_printf(buf, " 0x%" PRIx64,
			       MARK_START + marks * MARK_SIZE + MARK_SIZE / 2);
	pmp_buf_puts(buf, "\n# ");
	if (delay->samples)
		pmp_buf_printf(buf, "%" PRIu64 " sample%s: ", delay->samples,
			       delay->samples == 1 ? "" : "s");
	put_names(buf, layout->report, delay);
	pmp_buf_putc(buf, '\n');
	pmp_out_maybe_flush(out);
}

/* Marks come last, as the first mapping is taken for the program's. Brackets are omitted:
 * readers add their own. */
static void put_mark(struct pmp_buf *buf, const char *mark, size_t marks)
{
	struct pmp_buf name = { 0 };

	pmp_buf_printf(buf, "%08" PRIx64 "-%08" PRIx64 " r-xp 00000000 00:00 0 ",
		       (uint64_t)(MARK_START + marks * MARK_SIZE),
		       (uint64_t)(MARK_START + (marks + 1) * MARK_SIZE));
	pmp_name_word(&name, mark);
	for (size_t i = 0; i < name.length; i++)
		if (name.data[i] != '[' && name.data[i] != ']')
			pmp_buf_putc(buf, name.data[i]);
	pmp_buf_putc(buf, '\n');
	buf->failed |= name.failed;
	pmp_buf_free(&name);
}

static void put_text(struct pmp_out *out, const struct pmp_delays *delays,
		     const struct pmp_address_layout *layout, enum pmp_delays_of of)
{
	size_t marks = 0;

	put_head(out, delays, of);
	for (size_t i = 0; i < delays->count; i++) {
		put_stack(out, layout, &delays->items[i], marks);
		marks += *delays->items[i].mark != '\0';
	}
	pmp_buf_puts(&out->buf, "--- Memory map: ---\n");
	pmp_layout_put_maps(layout, true, &out->buf);
	marks = 0;
	for (size_t i = 0; i < delays->count; i++)
		if (*delays->items[i].mark)
			put_mark(&out->buf, delays->items[i].mark, marks++);
}

static int make_layout(struct pmp_address_layout *layout, const struct pmp_delays *delays)
{
	const struct pmp_report *report = delays->report;

	for (size_t i = 0; i < delays->count; i++)
		for (size_t k = 0; k < delays->items[i].location_count; k++)
			if (!pmp_layout_use(layout, delays->items[i].locations[k]))
				return PMP_ENOMEM;
	return pmp_layout_settle(layout,
				 report->entry_count ? report->entries[0].process : "");
}

void pmp_delay_text_write(struct pmp_out *out, const struct pmp_report *report,
			  const struct pmp_write_options *options, enum pmp_delays_of of)
{
	struct pmp_address_layout layout = { .report = report };
	struct pmp_delays delays;
	int code = pmp_delays_make(&delays, report, of);

	if (!code && !options->proto)
		code = make_layout(&layout, &delays);
	if (code)
		pmp_buf_fail(&out->buf);
	else if (options->proto)
		pmp_pprof_write_delays(out, &delays, options);
	else
		put_text(out, &delays, &layout, of);
	pmp_layout_free(&layout);
	pmp_delays_free(&delays);
}
