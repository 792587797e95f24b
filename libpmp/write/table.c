/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of numbers, and the lines above them. */
#include "write/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/clock.h"
#include "base/escape.h"

#define HUNDREDTH (PMP_S / 100)
#define NOTHING "       -" /* for a column of 8 */

/* Writes hundredths as "12.34". */
static void add_decimal(struct pmp_buf *buf, int width, uint64_t hundredths)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%02u", hundredths / 100,
		 (unsigned)(hundredths % 100));
	pmp_buf_printf(buf, "%*s", width, text);
}

void pmp_table_value(struct pmp_buf *buf, int width, uint64_t number,
		     const struct pmp_sample_type *sample_type)
{
	char text[PMP_VALUE_SIZE];

	pmp_buf_printf(buf, "%*s", width,
		       pmp_format_value(number, sample_type->unit, text, sizeof(text)));
}

void pmp_table_count(struct pmp_buf *buf, int width, uint64_t number)
{
	pmp_buf_printf(buf, "%*" PRIu64, width, number);
}

void pmp_table_percent(struct pmp_buf *buf, int width, uint64_t part, uint64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;

	add_decimal(buf, width, (uint64_t)(share * 10000 + 0.5));
}

void pmp_table_seconds(struct pmp_buf *buf, int width, uint64_t time)
{
	add_decimal(buf, width, time / HUNDREDTH + (time % HUNDREDTH >= HUNDREDTH / 2));
}

/* "300 stacks in 30 snapshots, 2.90 s, host db1" */
static void add_extent(struct pmp_buf *buf, const struct pmp_report *report,
		       uint64_t stacks)
{
	const struct pmp_profile_info *info = &report->totals;
	const struct pmp_metadata *metadata = &report->metadata;

	if (*metadata->sample_type.type) {
		pmp_escape_buf(buf, metadata->sample_type.type,
			       strlen(metadata->sample_type.type));
		pmp_buf_putc(buf, ' ');
	}
	pmp_table_value(buf, 0, stacks, &metadata->sample_type);
	/* A filter was used, now or when the profile was saved. */
	if (info->stacks > stacks) {
		pmp_buf_puts(buf, " of ");
		pmp_table_value(buf, 0, info->stacks, &metadata->sample_type);
	}
	if (!*metadata->sample_type.type)
		pmp_buf_printf(buf, " stack%s", stacks == 1 ? "" : "s");
	if (!metadata->guessed)
		pmp_buf_printf(buf, " in %" PRIu64 " snapshot%s", (uint64_t)info->samples,
			       info->samples == 1 ? "" : "s");
	if (metadata->duration || !*metadata->sample_type.type) {
		pmp_buf_puts(buf, ", ");
		pmp_table_seconds(buf, 0, metadata->duration);
		pmp_buf_puts(buf, " s");
	}
	if (*metadata->host) {
		pmp_buf_puts(buf, ", host ");
		pmp_escape_buf(buf, metadata->host, strlen(metadata->host));
	}
	if (info->evicted)
		pmp_buf_printf(buf, ", %" PRIu64 " evicted", info->evicted);
}

void pmp_table_title(struct pmp_buf *buf, const char *what,
		     const struct pmp_report *report, uint64_t stacks)
{
	pmp_buf_printf(buf, "%s: ", what);
	add_extent(buf, report, stacks);
	pmp_buf_puts(buf, "\n\n");
}

/* ---- comparisons ------------------------------------------------------------------- */

static double hundredths(double part, double whole)
{
	return whole > 0 ? part / whole * 10000 : 0;
}

bool pmp_table_shows(double change, double whole)
{
	double size = hundredths(change, whole);

	return size >= 0.5 || size <= -0.5;
}

void pmp_table_change(struct pmp_buf *buf, int width, double change, double whole)
{
	double size = hundredths(change < 0 ? -change : change, whole) + 0.5;
	uint64_t number = size < (double)INT64_MAX ? (uint64_t)size : INT64_MAX;
	char text[32];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%02u",
		 !number      ? ""
		 : change < 0 ? "-"
			      : "+",
		 number / 100, (unsigned)(number % 100));
	pmp_buf_printf(buf, "%*s", width, text);
}

static void add_share(struct pmp_buf *buf, double part, double whole)
{
	double size = hundredths(part, whole) + 0.5;

	if (part > 0)
		add_decimal(buf, 8,
			    size < (double)INT64_MAX ? (uint64_t)size : INT64_MAX);
	else
		pmp_buf_puts(buf, NOTHING);
}

void pmp_table_compared(struct pmp_buf *buf, const struct pmp_paths *paths,
			uint64_t count, uint64_t base)
{
	double whole = pmp_paths_whole(paths), scaled = pmp_paths_base(paths, base);

	add_share(buf, scaled, whole);
	add_share(buf, (double)count, whole);
	if (count || base)
		pmp_table_change(buf, 8, (double)count - scaled, whole);
	else
		pmp_buf_puts(buf, NOTHING);
}

void pmp_table_titles(struct pmp_buf *buf, const struct pmp_paths *paths,
		      const struct pmp_report *report)
{
	const struct pmp_report *base = report->base;
	const struct pmp_scale *scale = &report->scale;

	pmp_buf_puts(buf, "new:  ");
	add_extent(buf, report, paths->samples);
	pmp_buf_puts(buf, "\nbase: ");
	add_extent(buf, base, paths->base_samples);
	if (scale->to != scale->from)
		pmp_buf_printf(buf, "; counts times %" PRIu64 "/%" PRIu64, scale->to,
			       scale->from);
	pmp_buf_puts(buf, "\n\n");
}
