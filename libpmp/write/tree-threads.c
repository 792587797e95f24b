/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each thread did, as table rows for the page; see tree.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "report/sort.h"
#include "write/tree.h"
#include "write/writer.h"

#define THREADS 5000 /* in the table */
#define SHOWN 3	     /* functions of a stack */

struct page_thread {
	const struct pmp_path *most; /* the most frequent one; NULL: no samples */
	uint64_t samples;
	uint64_t states[PMP_ACTIVITY_COUNT]; /* us, or samples */
};

static void add_path(struct page_thread *row, struct pmp_activity_table *activities,
		     const struct pmp_path *path)
{
	struct pmp_activities found;

	pmp_activity_get(activities, path, &found);
	row->samples = pmp_count_sum(row->samples, path->count);
	if (!row->most || path->count > row->most->count)
		row->most = path;
	if (!activities->timed)
		row->states[found.most] =
			pmp_count_sum(row->states[found.most], path->count);
	for (unsigned i = 0; i < PMP_ACTIVITY_COUNT && activities->timed; i++)
		row->states[i] = pmp_count_sum(row->states[i], found.times[i] / PMP_US);
}

void pmp_tree_add_stack(struct pmp_buf *buf, const struct pmp_paths *paths,
			const struct pmp_path *path,
			bool (*is_left_out)(const char *function), size_t most)
{
	size_t end = path->length;

	while (is_left_out && end > 1 &&
	       is_left_out(paths->functions[path->functions[end - 1]].name))
		end--;
	for (size_t i = end, shown = 0; i-- > 0 && shown < most; shown++) {
		const char *name = paths->functions[path->functions[i]].name;

		if (shown && !*paths->functions[path->functions[i]].module)
			break;
		if (shown)
			pmp_buf_puts(buf, "\\u003c");
		pmp_escape_script(buf, name, strlen(name));
	}
}

static void add_thread(struct pmp_buf *buf, const struct pmp_tree_paths *paths,
		       const struct page_thread *row)
{
	const struct pmp_entry *entry = row->most->entry;
	const char *group = "";

	/* In the tree it follows the process. */
	if (*paths->split && (entry->tid || *entry->thread))
		group = paths->paths.functions[row->most->functions[1]].name;
	pmp_buf_printf(buf, "[%d,%d,\"", (int)entry->pid, (int)entry->tid);
	pmp_escape_script(buf, entry->thread, strlen(entry->thread));
	pmp_buf_puts(buf, "\",\"");
	pmp_escape_script(buf, group, strlen(group));
	pmp_buf_printf(buf, "\",%" PRIu64, row->samples);
	for (unsigned i = 0; i < PMP_ACTIVITY_COUNT; i++)
		pmp_buf_printf(buf, ",%" PRIu64, row->states[i]);
	pmp_buf_puts(buf, ",\"");
	pmp_tree_add_stack(buf, &paths->paths, row->most, NULL, SHOWN);
	pmp_buf_puts(buf, "\"]");
}

static int compare_rows(const void *a, const void *b)
{
	const struct page_thread *one = a, *other = b;
	const struct pmp_entry *first, *second;

	if (!one->most || !other->most)
		return !one->most - !other->most;
	first = one->most->entry;
	second = other->most->entry;
	if (first->pid != second->pid)
		return first->pid < second->pid ? -1 : 1;
	if (first->tid != second->tid)
		return first->tid < second->tid ? -1 : 1;
	return strcmp(first->thread, second->thread);
}

static struct page_thread *make_rows(struct pmp_tree_paths *paths, size_t count)
{
	struct page_thread *rows = calloc(count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < paths->paths.path_count; i++) {
		const struct pmp_path *path = &paths->paths.paths[i];

		if (!path->base)
			add_path(&rows[pmp_activity_thread(&paths->activities,
							   path->entry)],
				 &paths->activities, path);
	}
	if (rows)
		qsort(rows, count, sizeof(*rows), compare_rows);
	return rows;
}

size_t pmp_tree_add_threads(struct pmp_out *out, struct pmp_tree_paths *paths)
{
	const size_t count = pmp_activity_threads(&paths->activities);
	struct page_thread *rows = make_rows(paths, count);

	if (!rows) {
		pmp_buf_fail(&out->buf);
		return 0;
	}
	pmp_buf_putc(&out->buf, '[');
	for (size_t i = 0; i < count && i < THREADS && rows[i].most; i++) {
		pmp_buf_puts(&out->buf, i ? ",\n" : "\n");
		add_thread(&out->buf, paths, &rows[i]);
		pmp_out_maybe_flush(out);
	}
	pmp_buf_putc(&out->buf, ']');
	free(rows);
	return count > THREADS ? count - THREADS : 0;
}
