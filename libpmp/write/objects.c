/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of a process's heap:
 *
 *     heap of zoo [26981] at 2026-11-24T23:04:11.123Z, read in 13.1 ms, 12.7 ms of CPU
 *            112,020 blocks        14,272,256 bytes   live
 *                 12                5,767,168         of these in mappings of their own
 *                 36                    2,304         freed, kept by threads
 *                  0                        0         freed, kept in fastbins
 *                 48                  120,000         free
 *                                       4,096         not used so far
 *     5 arenas, 7 heaps, 13.9 MiB with headers
 *
 *            blocks             bytes         size  class
 *            12,000         5,856,000          488  net::Session
 *            39,984         2,880,000           72  -
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "census.h"
#include "write/census-classes.h"
#include "write/heading.h"
#include "write/objects-pprof.h"
#include "write/writer.h"

#define NUMBER_SIZE 32
#define SIZES_MAX 100 /* rows for blocks without a class */
#define MIB (1024.0 * 1024.0)
#define MS 1e6
#define DIGITS 3 /* between commas */

/* "1,234,567" */
static void put_number(struct pmp_buf *buf, int width, uint64_t number)
{
	char digits[NUMBER_SIZE], text[2 * NUMBER_SIZE];
	const int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	int used = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % DIGITS == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	pmp_buf_printf(buf, "%*s", width, text);
}

/* ---- the sums --------------------------------------------------------------------------- */

static void put_part(struct pmp_buf *buf, const struct pmp_census_part *part,
		     const char *what)
{
	put_number(buf, 15, part->blocks);
	put_number(buf, 26, part->bytes);
	pmp_buf_printf(buf, "         %s\n", what);
}

static void put_sums(struct pmp_buf *buf, const struct pmp_census_totals *totals)
{
	put_number(buf, 15, totals->live.blocks);
	pmp_buf_puts(buf, " blocks");
	put_number(buf, 19, totals->live.bytes);
	pmp_buf_puts(buf, " bytes   live\n");
	put_part(buf, &totals->mapped, "of these in mappings of their own");
	put_part(buf, &totals->cached, "freed, kept by threads");
	put_part(buf, &totals->fast, "freed, kept in fastbins");
	put_part(buf, &totals->free, "free");
	pmp_buf_printf(buf, "%15s", "");
	put_number(buf, 26, totals->top);
	pmp_buf_puts(buf, "         not used so far\n");
}

static void put_missing(struct pmp_buf *buf, const char *what, uint64_t bytes)
{
	if (!bytes)
		return;
	pmp_buf_printf(buf, "%s: ", what);
	put_number(buf, 0, bytes);
	pmp_buf_puts(buf, " bytes; their blocks are missing here\n");
}

static void put_rest(struct pmp_buf *buf, const struct pmp_census_totals *totals)
{
	pmp_buf_printf(buf,
		       "%" PRIu64 " arena%s, %" PRIu64 " heap%s, %.1f MiB with headers\n",
		       totals->arenas, totals->arenas == 1 ? "" : "s", totals->heaps,
		       totals->heaps == 1 ? "" : "s", (double)totals->size / MIB);
	put_missing(buf, "not read, as it is swapped out", totals->swapped);
	put_missing(buf, "not understood", totals->unread);
	if (totals->glibc)
		pmp_buf_printf(buf,
			       "glibc 2.%u is newer than this pmp knows (2.%d): what was "
			       "read agrees with that\n",
			       totals->glibc, PMP_CENSUS_GLIBC_KNOWN);
}

static void put_title(struct pmp_buf *buf, const struct pmp_snapshot *snapshot)
{
	const struct pmp_sample_info *info = &snapshot->info;

	if (snapshot->number > 1)
		pmp_buf_putc(buf, '\n');
	pmp_buf_puts(buf, "heap of ");
	pmp_escape_map(buf, info->name, strlen(info->name), "", "");
	pmp_buf_printf(buf, " [%d] at ", (int)info->pid);
	pmp_heading_time(buf, snapshot);
	if (!snapshot->census) {
		pmp_buf_puts(buf, ", not read\n");
		return;
	}
	pmp_buf_printf(buf, ", read in %.1f ms, %.1f ms of CPU\n",
		       (double)info->duration / MS,
		       (double)snapshot->census->totals.cpu / MS);
}

/* ---- the table ---------------------------------------------------------------------------- */

static void put_size(struct pmp_buf *buf, const struct pmp_census_class *class)
{
	char text[2 * NUMBER_SIZE] = "-";

	if (class->smallest && class->smallest == class->largest) {
		put_number(buf, 17, class->smallest);
		return;
	}
	if (class->smallest)
		snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, class->smallest,
			 class->largest);
	pmp_buf_printf(buf, "%17s", text);
}

static void put_class(struct pmp_buf *buf, const struct pmp_census_class *class,
		      const char *name)
{
	put_number(buf, 15, class->blocks);
	put_number(buf, 18, class->bytes);
	put_size(buf, class);
	if (name)
		pmp_buf_printf(buf, "  %s", *name ? name : "-");
	pmp_buf_putc(buf, '\n');
}

static void put_classes(struct pmp_out *out, const struct pmp_census_classes *classes,
			bool typed)
{
	struct pmp_census_class others = { 0 };
	struct pmp_buf *buf = &out->buf;
	size_t shown = 0, left = 0;

	pmp_buf_printf(buf, "\n%15s%18s%17s%s\n", "blocks", "bytes", "size",
		       typed ? "  class" : "");
	for (size_t i = 0; i < classes->count; i++) {
		const struct pmp_census_class *class = &classes->items[i];
		const char *name = pmp_census_class_name(classes, i);

		if (!*name && shown++ >= SIZES_MAX) {
			others.blocks += class->blocks;
			others.bytes += class->bytes;
			left++;
			continue;
		}
		put_class(buf, class, typed ? name : NULL);
		pmp_out_maybe_flush(out);
	}
	if (!left)
		return;
	put_number(buf, 15, others.blocks);
	put_number(buf, 18, others.bytes);
	pmp_buf_printf(buf, "%17s  (%zu more sizes without a class)\n", "-", left);
}

static void write_objects(struct pmp_out *out, const struct pmp_report *report,
			  const struct pmp_write_options *options)
{
	const struct pmp_snapshot *snapshot = report->snapshot;
	struct pmp_census_classes classes = { 0 };

	if (!snapshot->census) {
		put_title(&out->buf, snapshot);
		return;
	}
	if (pmp_census_classes_make(&classes, report, options->proto)) {
		pmp_buf_fail(&out->buf);
	} else if (options->proto) {
		pmp_objects_write_pprof(out, report, &classes);
	} else {
		put_title(&out->buf, snapshot);
		put_sums(&out->buf, &snapshot->census->totals);
		put_rest(&out->buf, &snapshot->census->totals);
		put_classes(out, &classes, snapshot->census->totals.typed);
	}
	pmp_census_classes_free(&classes);
}

const struct pmp_writer pmp_writer_objects = {
	.format = {
		.name = "objects",
		.help = "what the heap of a running process holds, by class",
		.extension = "objects",
		.mime = "text/plain; charset=utf-8",
		.snapshots = true,
		.once = true,
		.live = true,
		.proto = true,
		.census = true,
	},
	.write = write_objects,
};
