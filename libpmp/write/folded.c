/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: one line per distinct stack, root first, then its count.
 *
 *     mariadbd;start_thread;handle_one_connection;do_command;poll 42
 *
 * The first frame is the process: `mariadbd`, with its id where there is more than
 * one process, and with the thread's as well (`mariadbd-4100/4102;conn-17;...`)
 * where threads are kept apart. Where the root of a stack is not known its place
 * is taken by `[not stopped: epoll_wait]` or `[truncated: ...]`. No line's last
 * frame ends in a blank and digits: some readers would take them for the count.
 */
#include <inttypes.h>

#include "write/listing.h"
#include "write/names.h"
#include "write/writer.h"

static bool several_processes(const struct pmp_profile *profile)
{
	const struct pmp_entry *first = pmp_profile_entry(profile, 0);

	for (size_t i = 1; i < pmp_profile_entry_count(profile); i++)
		if (pmp_profile_entry(profile, i)->pid != first->pid)
			return true;
	return false;
}

static void add_root(struct pmp_buf *line, const struct pmp_entry *entry, bool by_thread,
		     bool with_pid)
{
	pmp_name_word(line, entry->process);
	if (by_thread && entry->tid) {
		pmp_buf_printf(line, "-%d/%d;", (int)entry->pid, (int)entry->tid);
		pmp_name_word(line, entry->thread);
	} else if (with_pid) {
		pmp_buf_printf(line, "-%d", (int)entry->pid);
	}
}

static void add_stack(struct pmp_buf *line, const struct pmp_entry *entry,
		      struct pmp_name_cache *names)
{
	if (entry->end != PMP_END_ROOT) {
		pmp_buf_putc(line, ';');
		pmp_name_end(line, entry->end, entry->why);
	} else if (!entry->location_count) {
		pmp_buf_puts(line, ";[unknown]");
	}
	for (size_t i = entry->location_count; i-- > 0;) {
		pmp_buf_putc(line, ';');
		pmp_name_location(names, line, entry->locations[i]);
	}
}

static void write_folded(struct pmp_out *out, struct pmp_profile *profile,
			 const struct pmp_write_options *options)
{
	struct pmp_name_cache names = {
		.profile = profile,
		.style = { .lines = options->lines, .module = options->module },
		.separator = ';',
		.root_first = true,
	};
	bool with_pid = several_processes(profile);
	struct pmp_listing lines = { 0 };
	struct pmp_buf line = { 0 };

	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);

		pmp_buf_clear(&line);
		add_root(&line, entry, options->by_thread, with_pid);
		add_stack(&line, entry, &names);
		if (pmp_listing_add(&lines, &line, entry->count)) {
			out->buf.failed = true;
			goto out;
		}
	}
	pmp_listing_sort(&lines, pmp_listing_by_text);
	for (size_t i = 0; i < lines.count; i++) {
		pmp_buf_add(&out->buf, lines.lines[i].text, lines.lines[i].length);
		pmp_buf_printf(&out->buf, " %" PRIu64 "\n", lines.lines[i].count);
		pmp_out_maybe_flush(out);
	}
out:
	pmp_buf_free(&line);
	pmp_listing_free(&lines);
	pmp_name_cache_free(&names);
}

const struct pmp_writer pmp_writer_folded = {
	.format = {
		.name = "folded",
		.help = "one line per stack, root first; for flame graphs",
		.extension = "folded",
		.mime = "text/plain; charset=utf-8",
	},
	.write = write_folded,
};
