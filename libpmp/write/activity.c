/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write/activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/syscalls.h"
#include "report/counted-wait.h"
#include "report/filter.h"

struct pmp_thread_times {
	uint64_t running, other, cpu; /* ns: found running, found otherwise, on a CPU */
};

/* Strings are interned: entries of one thread share them. */
struct thread_key {
	uint64_t pid, tid;
	const char *process, *thread;
};

static struct thread_key key_of(const struct pmp_entry *entry)
{
	return (struct thread_key){ (uint64_t)entry->pid, (uint64_t)entry->tid,
				    entry->process, entry->thread };
}

uint32_t pmp_activity_thread(const struct pmp_activity_table *table,
			     const struct pmp_entry *entry)
{
	const struct thread_key key = key_of(entry);

	return pmp_intern_find(table->threads, &key, sizeof(key));
}

size_t pmp_activity_threads(const struct pmp_activity_table *table)
{
	return pmp_intern_count(table->threads);
}

/* ---- making the table ------------------------------------------------------------- */

static void add_entry(struct pmp_thread_times *times, const struct pmp_entry *entry)
{
	uint64_t *sum = entry->state == 'R' ? &times->running : &times->other;

	*sum = pmp_count_sum(*sum, entry->wall);
	times->cpu = pmp_count_sum(times->cpu, entry->cpu);
}

static int add_threads(struct pmp_activity_table *table)
{
	const struct pmp_report *report = table->report;
	const bool counts_stacks = !*report->metadata.sample_type.type;

	for (size_t i = 0; i < report->entry_count; i++) {
		const struct pmp_entry *entry = &report->entries[i];
		const struct thread_key key = key_of(entry);

		if (pmp_intern(table->threads, &key, sizeof(key)) == PMP_INTERN_NONE)
			return PMP_ENOMEM;
		table->timed = table->timed || (counts_stacks && entry->wall);
		table->has_threads = table->has_threads || *entry->thread;
	}
	table->times =
		calloc(pmp_intern_count(table->threads) + 1, sizeof(*table->times));
	if (!table->times)
		return PMP_ENOMEM;
	for (size_t i = 0; i < report->entry_count; i++)
		add_entry(&table->times[pmp_activity_thread(table, &report->entries[i])],
			  &report->entries[i]);
	return 0;
}

static int add_marks(struct pmp_activity_table *table)
{
	const struct pmp_paths *paths = table->paths;
	size_t longest = 0;
	char name[256];

	for (size_t i = 0; i < paths->path_count; i++)
		if (paths->paths[i].length > longest)
			longest = paths->paths[i].length;
	table->stack = calloc(longest + 1, sizeof(*table->stack));
	table->marks = calloc(paths->function_count + 1, sizeof(*table->marks));
	if (!table->stack || !table->marks)
		return PMP_ENOMEM;
	for (size_t i = 0; i < paths->function_count; i++) {
		const struct pmp_function *function = &paths->functions[i];

		if (!*function->module)
			continue;
		table->marks[i] = pmp_filter_function(
			table->report->filter, function->name, function->readable,
			function->module, name, sizeof(name));
		if (pmp_filter_has_failed(table->marks[i]))
			return PMP_ENOMEM;
	}
	return 0;
}

int pmp_activity_make(struct pmp_activity_table *table, const struct pmp_report *report,
		      const struct pmp_paths *paths)
{
	*table = (struct pmp_activity_table){ .report = report,
					      .paths = paths,
					      .threads = pmp_intern_new() };
	if (!table->threads || add_threads(table) || add_marks(table))
		return PMP_ENOMEM;
	return 0;
}

void pmp_activity_free(struct pmp_activity_table *table)
{
	pmp_intern_free(table->threads);
	free(table->times);
	free(table->marks);
	free(table->stack);
	*table = (struct pmp_activity_table){ 0 };
}

/* ---- looking up ------------------------------------------------------------------ */

static pmp_marks marks_of(struct pmp_activity_table *table, const struct pmp_path *path)
{
	size_t count = 0;

	for (size_t i = path->length; i-- > 0;)
		if (*table->paths->functions[path->functions[i]].module)
			table->stack[count++] = table->marks[path->functions[i]];
	return pmp_filter_stack_marks(table->stack, count);
}

/* found: the entry is the report's, not its base's, whose locations are different. */
static bool waits_for_lock(const struct pmp_activity_table *table,
			   const struct pmp_entry *entry, pmp_marks marks, bool found)
{
	struct pmp_counted_wait wait = { 0 };

	if (found)
		pmp_counted_wait_get(table->report, entry, &wait);
	if (wait.contended)
		return true;
	return pmp_filter_waits_for_lock(marks, entry->syscall);
}

static uint64_t share(uint64_t time, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)time * part / whole) : 0;
}

/* CPU time beyond the time found running is taken off the time found otherwise. */
static void divide(const struct pmp_thread_times *times, const struct pmp_entry *entry,
		   struct pmp_activities *activities)
{
	uint64_t ready = 0, other = times->other;

	if (times->running > times->cpu)
		ready = times->running - times->cpu;
	else if (times->cpu - times->running < other)
		other -= times->cpu - times->running;
	else
		other = 0;
	activities->times[PMP_ACTIVITY_RUN] = entry->cpu;
	if (entry->state == 'R')
		activities->times[PMP_ACTIVITY_READY] =
			share(ready, entry->wall, times->running);
	else
		activities->times[activities->most] +=
			share(other, entry->wall, times->other);
}

void pmp_activity_get(struct pmp_activity_table *table, const struct pmp_path *path,
		      struct pmp_activities *activities)
{
	const struct pmp_entry *entry = path->entry;
	const bool found = !path->base;
	pmp_marks marks = marks_of(table, path);

	*activities = (struct pmp_activities){ .most = PMP_ACTIVITY_SLEEP };
	if (entry->state == 'R' || !entry->count)
		activities->most = PMP_ACTIVITY_RUN;
	else if (waits_for_lock(table, entry, marks, found))
		activities->most = PMP_ACTIVITY_LOCK;
	else if (entry->state == 'D' || pmp_syscall_is_of_disk(entry->syscall))
		activities->most = PMP_ACTIVITY_DISK;
	else
		activities->idle =
			pmp_filter_is_idle(marks, entry->state, entry->syscall);
	if (table->timed && found)
		divide(&table->times[pmp_activity_thread(table, entry)], entry,
		       activities);
}
