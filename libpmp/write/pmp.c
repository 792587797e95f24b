/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of poormansprofiler.org and pt-pmp: a count, then the stack, leaf
 * first; the most frequent first.
 *
 *          12 poll(libc.so.6),vio_io_wait(mariadbd),vio_read(mariadbd),main(mariadbd)
 *
 * It is what pt-pmp makes of the raw format, module names included, except that
 * brackets whose contents are left out stay (`std::map<>::find`, `S::operator()`):
 * where pt-pmp leaves arguments standing their commas look like callers.
 */
#include <inttypes.h>
#include <string.h>

#include "write/listing.h"
#include "write/names.h"
#include "write/writer.h"

/* As `sort | uniq -c | sort -r -n -k 1,1` leaves them. */
static int compare_lines(const void *a, const void *b)
{
	const struct pmp_line *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return pmp_listing_by_text(b, a);
}

/* A word of ours among the functions: its commas would be taken for more of them. */
static void add_word(struct pmp_buf *line, struct pmp_buf *scratch, const char *word)
{
	pmp_buf_clear(scratch);
	pmp_name_word(scratch, word);
	for (size_t i = 0; i < scratch->length; i++)
		if (scratch->data[i] == ',')
			scratch->data[i] = ':';
	pmp_buf_add(line, scratch->data, scratch->length);
	line->failed |= scratch->failed;
}

/* A stack without a frame is shown by its reason, not dropped. */
static void add_reason(struct pmp_buf *line, struct pmp_buf *scratch,
		       const struct pmp_entry *entry)
{
	struct pmp_buf text = { 0 };

	pmp_name_end(&text, entry->end, entry->why);
	add_word(line, scratch, text.data ? text.data : "");
	line->failed |= text.failed;
	pmp_buf_free(&text);
}

static void write_pmp(struct pmp_out *out, struct pmp_profile *profile,
		      const struct pmp_write_options *options)
{
	struct pmp_name_cache names = {
		.profile = profile,
		.style = { .elide = true, .lines = options->lines, .module = true },
		.separator = ',',
	};
	struct pmp_buf line = { 0 }, scratch = { 0 };
	struct pmp_listing lines = { 0 };

	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);

		pmp_buf_clear(&line);
		for (size_t j = 0; j < entry->location_count; j++) {
			if (j)
				pmp_buf_putc(&line, ',');
			pmp_name_location(&names, &line, entry->locations[j]);
		}
		if (!entry->location_count)
			add_reason(&line, &scratch, entry);
		if (options->by_thread && entry->tid) {
			pmp_buf_putc(&line, ',');
			add_word(&line, &scratch, entry->thread);
		}
		if (pmp_listing_add(&lines, &line, entry->count)) {
			out->buf.failed = true;
			goto out;
		}
	}
	pmp_listing_sort(&lines, compare_lines);
	for (size_t i = 0; i < lines.count; i++) {
		pmp_buf_printf(&out->buf, "%7" PRIu64 " ", lines.lines[i].count);
		pmp_buf_add(&out->buf, lines.lines[i].text, lines.lines[i].length);
		pmp_buf_putc(&out->buf, '\n');
		pmp_out_maybe_flush(out);
	}
out:
	pmp_buf_free(&line);
	pmp_buf_free(&scratch);
	pmp_listing_free(&lines);
	pmp_name_cache_free(&names);
}

const struct pmp_writer pmp_writer_pmp = {
	.format = {
		.name = "pmp",
		.help = "one line per stack, leaf first, as pt-pmp prints them",
		.extension = "pmp",
		.mime = "text/plain; charset=utf-8",
	},
	.write = write_pmp,
};
