/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cutting.h. */
#include "sink/cutting.h"

#include <stdio.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "sink/answer-text.h"
#include "sink/sink.h"
#include "sink/write-options.h"

static int write_report(struct cutting *cutting, struct pmp_profile *window)
{
	const struct awaited *awaited = cutting->awaited;
	const struct options *options = cutting->answers->sink->options;
	const struct pmp_sink sink = { answer_text_put, &cutting->body };
	struct pmp_write_options write = write_options(options, false);
	struct pmp_report *report = NULL;
	int code = pmp_report_new(window, windows_filter(cutting->answers, awaited), NULL,
				  &report, &cutting->written.err);

	write.value = awaited->page->value;
	write.proto = awaited->page->proto && !awaited->as_text;
	write.labels = awaited->labels;
	write.since_start = awaited->since_start;
	if (code == 0)
		code = pmp_report_write(report, awaited->format, &write, &sink,
					&cutting->written.err);
	pmp_report_free(report);
	return code;
}

static void write_part(struct cutting *cutting)
{
	const struct awaited *awaited = cutting->awaited;
	const struct sink *sink = cutting->answers->sink;
	const bool all = !awaited->page->format;
	/* Pages with one value have neither states nor locks. */
	const bool details = !awaited->page->value || awaited->labels == PMP_LABELS_ALL;
	const struct pmp_window_options options = {
		.size = sizeof(options),
		.from = awaited->from,
		.to = awaited->to,
		.pid = awaited->pid,
		.by_thread = all && sink->options->by_thread,
		.details = details && awaited->format->details,
		.times = all && awaited->format->times,
		.for_filter = true,
		.waits = details && awaited->format->waits,
		.last = awaited->page->kind == PAGE_SNAPSHOT,
	};
	struct pmp_profile *window = NULL;

	cutting->written.covered.size = sizeof(cutting->written.covered);
	cutting->written.code =
		pmp_profile_window(sink->counting->profile, &options, &window,
				   &cutting->written.covered, &cutting->written.err);
	if (cutting->written.code == 0)
		cutting->written.code = write_report(cutting, window);
	pmp_profile_free(window);
}

/* Write all that was counted since the start. */
static void write_sums(struct cutting *cutting)
{
	struct pmp_profile *profile = cutting->answers->sink->counting->profile;
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(profile, &info);
	cutting->written.covered.from = info.first_time;
	cutting->written.covered.to = info.last_time;
	cutting->written.covered.samples = info.samples;
	cutting->written.code = write_report(cutting, profile);
}

void cutting_write(void *arg)
{
	struct cutting *cutting = arg;

	if (cutting->awaited->since_start)
		write_sums(cutting);
	else
		write_part(cutting);
}

void cutting_say(const struct page *page, const struct pmp_covered *covered, char *text,
		 size_t size)
{
	const double seconds = (double)(covered->to - covered->from) / (double)NS_PER_S;

	*text = '\0';
	if (page->kind != PAGE_HEAP)
		snprintf(text, size, "seconds=%.3f snapshots=%llu", seconds,
			 (unsigned long long)covered->samples);
	else if (covered->to > covered->from)
		snprintf(text, size, "seconds=%.3f", seconds);
}
