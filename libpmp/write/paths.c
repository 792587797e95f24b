/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making paths: the functions of a location are looked up once and cached. When all are
 * known, they are renumbered by name, so that paths compare like numbers.
 */
#include "write/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/intern.h"
#include "libpmp-program.h"
#include "report/counted-wait.h"
#include "report/diff.h"

struct pmp_path_slot {
	size_t start;	/* in pieces */
	uint32_t count; /* 0: not looked up yet */
};

const char pmp_several_modules[] = "several";

/* Another function of the same name, or another place in the same one. */
static void join(struct pmp_function *function, const char *module)
{
	if (strcmp(pmp_name_base(function->module), pmp_name_base(module)) == 0)
		return;
	function->module = pmp_several_modules;
	function->file = NULL;
}

/* The number of a name; PMP_INTERN_NONE: no memory. A process or mark (module "") differs
 * from a function of the same name: its key includes the NUL. */
static uint32_t function_of(struct pmp_paths *paths, const struct pmp_buf *name,
			    const struct pmp_frame *frame)
{
	uint32_t id;

	if (pmp_buf_failed(name) ||
	    PMP_RESERVE(&paths->functions, &paths->function_capacity,
			paths->function_count + 1))
		return PMP_INTERN_NONE;
	id = pmp_intern(paths->names, name->data, name->length + !*frame->module);
	if (id == paths->function_count)
		paths->functions[paths->function_count++] = (struct pmp_function){
			.name = pmp_intern_data(paths->names, id, NULL),
			.readable = frame->readable,
			.module = frame->module,
			.file = frame->file,
			.number = id,
		};
	else if (id != PMP_INTERN_NONE)
		join(&paths->functions[id], frame->module);
	return id;
}

static int name_slot(struct pmp_paths *paths, const struct pmp_report *report,
		     pmp_location location, const struct pmp_name_style *style)
{
	const struct pmp_frame *frames;
	size_t count = pmp_report_frames(report, location, &frames);
	struct pmp_buf name = { 0 };
	int code = PMP_ENOMEM;

	if (PMP_RESERVE(&paths->pieces, &paths->piece_capacity,
			paths->piece_count + count))
		return PMP_ENOMEM;
	paths->slots[location].start = paths->piece_count;
	for (size_t i = 0; i < count; i++) {
		uint32_t id;

		pmp_buf_clear(&name);
		pmp_name_frame(&name, &frames[i], style);
		id = function_of(paths, &name, &frames[i]);
		if (id == PMP_INTERN_NONE)
			goto out;
		paths->pieces[paths->piece_count++] = id;
	}
	paths->slots[location].count = (uint32_t)count;
	code = 0;
out:
	pmp_buf_free(&name);
	return code;
}

static int find_slot(struct pmp_paths *paths, pmp_location location)
{
	size_t need = (size_t)location + 1;

	if (need <= paths->slot_count)
		return 0;
	if (PMP_RESERVE(&paths->slots, &paths->slot_capacity, need))
		return PMP_ENOMEM;
	memset(paths->slots + paths->slot_count, 0,
	       (paths->slot_capacity - paths->slot_count) * sizeof(*paths->slots));
	paths->slot_count = paths->slot_capacity;
	return 0;
}

/* Add a step that is no function: a process, a mark. elide: one word without commas. */
static int add_word(struct pmp_paths *paths, struct pmp_buf *word, bool elide)
{
	static const struct pmp_frame no_function = { .module = "" };
	uint32_t id;

	for (size_t i = 0; elide && i < word->length; i++)
		if (word->data[i] == ',' || word->data[i] == ' ')
			word->data[i] = word->data[i] == ',' ? ':' : '_';
	id = function_of(paths, word, &no_function);
	if (id == PMP_INTERN_NONE ||
	    PMP_RESERVE(&paths->steps, &paths->step_capacity, paths->step_count + 1))
		return PMP_ENOMEM;
	paths->steps[paths->step_count++] = id;
	return 0;
}

/* "mariadbd", "mariadbd-4100", "mariadbd-4100/4102" */
static void name_process(struct pmp_buf *word, const struct pmp_entry *entry,
			 const struct pmp_path_style *style, bool several)
{
	pmp_name_word(word, style->process ? style->process : entry->process);
	if (style->root != PMP_ROOT_IDS)
		return;
	if (style->by_thread && entry->tid)
		pmp_buf_printf(word, "-%d/%d", (int)entry->pid, (int)entry->tid);
	else if (several && entry->pid)
		pmp_buf_printf(word, "-%d", (int)entry->pid);
}

/* The thread or its group. */
static int add_thread(struct pmp_paths *paths, const struct pmp_report *report,
		      const struct pmp_entry *entry, const struct pmp_path_style *style)
{
	struct pmp_buf word = { 0 };
	char group[256];
	int code = 0;

	if (style->by_group && *entry->thread)
		pmp_name_word(&word, pmp_filter_thread(report->filter, entry->thread,
						       group, sizeof(group)));
	else if (style->by_group)
		pmp_buf_puts(&word, "[unknown]");
	else if (style->by_thread && (entry->tid || *entry->thread))
		pmp_name_word(&word, entry->thread);
	if (word.length || pmp_buf_failed(&word))
		code = add_word(paths, &word, style->names.elide);
	pmp_buf_free(&word);
	return code;
}

/* several: the report has more than one process. */
static int add_root(struct pmp_paths *paths, const struct pmp_report *report,
		    const struct pmp_entry *entry, const struct pmp_path_style *style,
		    bool several)
{
	bool marked = style->root != PMP_ROOT_NONE || !entry->location_count;
	struct pmp_buf word = { 0 };
	int code = 0;

	if (style->root != PMP_ROOT_NONE) {
		name_process(&word, entry, style, several);
		code = add_word(paths, &word, style->names.elide);
	}
	if (!code)
		code = add_thread(paths, report, entry, style);
	pmp_buf_clear(&word);
	if (marked && entry->end != PMP_END_ROOT)
		pmp_name_end(&word, entry->end, entry->reason);
	else if (marked && !entry->location_count)
		pmp_buf_puts(&word, "[unknown]");
	if (!code && (word.length || pmp_buf_failed(&word)))
		code = add_word(paths, &word, style->names.elide);
	pmp_buf_free(&word);
	return code;
}

/* A location's functions are leaf first, a path's are root first. */
static int add_location(struct pmp_paths *paths, const struct pmp_report *report,
			pmp_location location, const struct pmp_name_style *style)
{
	const struct pmp_path_slot *slot;

	if (find_slot(paths, location) ||
	    (!paths->slots[location].count && name_slot(paths, report, location, style)))
		return PMP_ENOMEM;
	slot = &paths->slots[location];
	if (PMP_RESERVE(&paths->steps, &paths->step_capacity,
			paths->step_count + slot->count))
		return PMP_ENOMEM;
	for (size_t i = slot->count; i-- > 0;)
		paths->steps[paths->step_count++] = paths->pieces[slot->start + i];
	return 0;
}

/* "[waits for mutex LOCK_log held by conn-N]": after the innermost function. */
static int add_wait(struct pmp_paths *paths, const struct pmp_report *report,
		    const struct pmp_entry *entry)
{
	struct pmp_buf text = { 0 }, word = { 0 };
	struct pmp_counted_wait wait;
	int code = PMP_ENOMEM;

	pmp_counted_wait_get(report, entry, &wait);
	if (!wait.lock)
		return 0;
	pmp_counted_wait_phrase(report, &wait, false, &text);
	pmp_buf_putc(&word, '[');
	if (!pmp_buf_failed(&text))
		pmp_escape_map(&word, text.data, text.length, ";", ":");
	pmp_buf_putc(&word, ']');
	if (!pmp_buf_failed(&text) && !pmp_buf_failed(&word))
		code = add_word(paths, &word, false);
	pmp_buf_free(&text);
	pmp_buf_free(&word);
	return code;
}

static bool several_processes(const struct pmp_report *report)
{
	const struct pmp_entry *first = report->entries;

	for (size_t i = 1; i < report->entry_count; i++)
		if (report->entries[i].pid != first->pid)
			return true;
	return false;
}

/* Has it CPU time but no samples, or allocated memory that is no longer live? */
static bool has_more(const struct pmp_entry *entry)
{
	return entry->cpu ||
	       (entry->heap && (entry->heap->alloc_bytes || entry->heap->live_bytes));
}

static int add_paths(struct pmp_paths *paths, const struct pmp_report *report,
		     const struct pmp_path_style *style, bool is_base)
{
	size_t count = report->entry_count;
	bool several = several_processes(report);
	uint64_t *sum = is_base ? &paths->base_samples : &paths->samples;

	for (size_t i = 0; i < count; i++) {
		const struct pmp_entry *entry = &report->entries[i];
		size_t start = paths->step_count;
		int code;

		/* Only stacks of the base are compared. */
		if (!entry->count && (is_base || !(style->apart && has_more(entry))))
			continue;
		code = add_root(paths, report, entry, style, several);
		for (size_t j = entry->location_count; j-- > 0 && !code;)
			code = add_location(paths, report, entry->locations[j],
					    &style->names);
		if (!code && style->waits)
			code = add_wait(paths, report, entry);
		if (code)
			return code;
		paths->paths[paths->path_count++] = (struct pmp_path){
			.length = paths->step_count - start,
			.entry = entry,
			.count = is_base ? 0 : entry->count,
			.base = is_base ? entry->count : 0,
		};
		*sum = entry->count > UINT64_MAX - *sum ? UINT64_MAX
							: *sum + entry->count;
	}
	return 0;
}

/* ---- order -------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	const struct pmp_function *one = a, *other = b;

	int order = strcmp(one->name, other->name);

	return order ? order : !*other->module - !*one->module;
}

static int compare_paths(const void *a, const void *b)
{
	const struct pmp_path *one = a, *other = b;
	size_t shorter = one->length < other->length ? one->length : other->length;

	for (size_t i = 0; i < shorter; i++)
		if (one->functions[i] != other->functions[i])
			return one->functions[i] < other->functions[i] ? -1 : 1;
	return (one->length > other->length) - (one->length < other->length);
}

/* Renumber the functions by name. */
static int sort_functions(struct pmp_paths *paths)
{
	size_t count = paths->function_count;
	uint32_t *numbers = calloc(count + 1, sizeof(*numbers));

	if (!numbers)
		return PMP_ENOMEM;
	if (count)
		qsort(paths->functions, count, sizeof(*paths->functions), compare_names);
	for (size_t i = 0; i < count; i++)
		numbers[paths->functions[i].number] = (uint32_t)i;
	for (size_t i = 0; i < paths->step_count; i++)
		paths->steps[i] = numbers[paths->steps[i]];
	free(numbers);
	return 0;
}

struct pmp_path_style pmp_paths_style(const struct pmp_write_options *options)
{
	return (struct pmp_path_style){
		.names = { .lines = options->lines, .module = options->module },
		.by_thread = options->by_thread,
	};
}

static int start_paths(struct pmp_paths *paths, const struct pmp_report *report,
		       size_t count)
{
	*paths = (struct pmp_paths){ .names = pmp_intern_new(),
				     .sample_type = report->metadata.sample_type,
				     .scale = report->scale };
	paths->paths = calloc(count + 1, sizeof(*paths->paths));
	return paths->names && paths->paths ? 0 : PMP_ENOMEM;
}

static int sort_paths(struct pmp_paths *paths)
{
	size_t at = 0;

	if (sort_functions(paths))
		return PMP_ENOMEM;
	/* The steps no longer move: set the pointers. */
	for (size_t i = 0; i < paths->path_count; i++) {
		paths->paths[i].functions = paths->steps + at;
		at += paths->paths[i].length;
	}
	qsort(paths->paths, paths->path_count, sizeof(*paths->paths), compare_paths);
	return 0;
}

/* ---- with a base ---------------------------------------------------------------- */

/* Merge equal neighbours among the sorted paths. */
static void join_paths(struct pmp_paths *paths)
{
	size_t count = 0;

	for (size_t i = 0; i < paths->path_count; i++) {
		struct pmp_path *path = &paths->paths[i], *last = path;

		if (count)
			last = &paths->paths[count - 1];
		if (!count || compare_paths(last, path)) {
			paths->paths[count++] = *path;
			continue;
		}
		if (!last->count)
			last->entry = path->entry;
		last->count += path->count;
		last->base += path->base;
	}
	paths->path_count = count;
}

/* Add the base's paths, under the name of the report's process. */
static int add_base(struct pmp_paths *paths, const struct pmp_report *report,
		    const struct pmp_path_style *style)
{
	struct pmp_path_style base_style = *style;

	base_style.process = pmp_diff_process(report, report->base);
	/* Location numbers have a different meaning in the base. */
	if (paths->slot_count)
		memset(paths->slots, 0, paths->slot_count * sizeof(*paths->slots));
	return add_paths(paths, report->base, &base_style, true);
}

int pmp_paths_make(struct pmp_paths *paths, const struct pmp_report *report,
		   const struct pmp_path_style *style)
{
	size_t base_count = report->base ? report->base->entry_count : 0;

	if (start_paths(paths, report, report->entry_count + base_count) ||
	    add_paths(paths, report, style, false) ||
	    (report->base && add_base(paths, report, style)) || sort_paths(paths))
		return PMP_ENOMEM;
	if (report->base && !style->apart)
		join_paths(paths);
	return 0;
}

double pmp_paths_base(const struct pmp_paths *paths, uint64_t count)
{
	return pmp_diff_scaled(&paths->scale, count);
}

uint64_t pmp_paths_rounded(const struct pmp_paths *paths, uint64_t count)
{
	double scaled = pmp_paths_base(paths, count) + 0.5;

	return scaled < (double)INT64_MAX ? (uint64_t)scaled : INT64_MAX;
}

double pmp_paths_whole(const struct pmp_paths *paths)
{
	return paths->samples ? (double)paths->samples
			      : pmp_paths_base(paths, paths->base_samples);
}

void pmp_paths_free(struct pmp_paths *paths)
{
	pmp_intern_free(paths->names);
	free(paths->functions);
	free(paths->paths);
	free(paths->pieces);
	free(paths->slots);
	free(paths->steps);
	*paths = (struct pmp_paths){ 0 };
}
