/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The locks that threads waited for, as table rows for the page; see tree.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/intern.h"
#include "report/counted-wait.h"
#include "write/lock-names.h"
#include "write/tree.h"
#include "write/writer.h"

#define LOCKS 500 /* in the table */
#define SHOWN 5	  /* functions of a stack */

struct page_lock {
	uint64_t waited; /* us, or samples */
	uint64_t samples;
	uint64_t threads;	     /* waiting ones */
	const char *meaning;	     /* "metadata lock", or NULL */
	const char *holder;	     /* the most frequent one, ... */
	uint64_t holder_samples;     /* ... and in how many samples it held the lock */
	pid_t pid, holder_tid;	     /* ids of that thread; 0: unknown */
	const struct pmp_path *most; /* the most frequent one that waited */
};

/* What a thread mostly did while others waited for it. */
struct page_holder {
	const struct pmp_path *most;
	uint64_t delay;
};

struct page_locks {
	struct pmp_tree_paths *paths;
	struct pmp_lock_names names;
	struct page_lock *rows;	    /* by number of the lock */
	struct pmp_intern *threads; /* pairs of a lock and a thread */
	struct pmp_intern *holders; /* a lock and the name of a holder */
	uint64_t *holder_samples;   /* by number in holders */
	size_t holder_capacity;
	struct pmp_intern *delayers; /* process and thread of holders */
	struct page_holder *did;     /* by number in delayers */
	size_t did_capacity;
};

/* Add samples in which this holder had the lock. Returns the sum so far; 0: no memory. */
static uint64_t count_holder(struct page_locks *locks, uint32_t lock, const char *holder,
			     uint64_t samples)
{
	const size_t before = pmp_intern_count(locks->holders);
	char key[sizeof(lock) + 256] = "";
	uint32_t number;

	memcpy(key, &lock, sizeof(lock));
	snprintf(key + sizeof(lock), sizeof(key) - sizeof(lock), "%s", holder);
	number = pmp_intern(locks->holders, key,
			    sizeof(lock) + strlen(key + sizeof(lock)));
	if (number == PMP_INTERN_NONE ||
	    PMP_RESERVE(&locks->holder_samples, &locks->holder_capacity, number + 1U))
		return 0;
	if (number == before)
		locks->holder_samples[number] = 0;
	return locks->holder_samples[number] += samples;
}

static uint64_t waited_in(struct pmp_activity_table *activities,
			  const struct pmp_path *path)
{
	struct pmp_activities found;

	if (!activities->timed)
		return path->count;
	pmp_activity_get(activities, path, &found);
	return found.times[PMP_ACTIVITY_LOCK] / PMP_US;
}

static int add_path(struct page_locks *locks, uint32_t lock, const struct pmp_path *path)
{
	struct pmp_activity_table *activities = &locks->paths->activities;
	const uint32_t pair[] = { lock, pmp_activity_thread(activities, path->entry) };
	const size_t before = pmp_intern_count(locks->threads);
	struct page_lock *row = &locks->rows[lock];
	struct pmp_counted_wait wait;
	uint64_t samples;

	pmp_counted_wait_get(activities->report, path->entry, &wait);
	row->meaning = wait.meaning;
	row->waited = pmp_count_sum(row->waited, waited_in(activities, path));
	row->samples = pmp_count_sum(row->samples, path->count);
	if (pmp_intern(locks->threads, pair, sizeof(pair)) == before)
		row->threads++;
	if (!row->most || path->count > row->most->count)
		row->most = path;
	samples = count_holder(locks, lock, pmp_counted_wait_holder(&wait), path->count);
	if (samples > row->holder_samples) {
		row->holder = pmp_counted_wait_holder(&wait);
		row->pid = path->entry->pid;
		row->holder_tid = wait.lock ? wait.lock->holder : 0;
		row->holder_samples = samples;
	}
	return samples || !path->count ? 0 : PMP_ENOMEM;
}

static uint32_t find_delayer(const struct page_locks *locks, pid_t pid, pid_t tid)
{
	const pid_t key[] = { pid, tid };

	return pmp_intern_find(locks->delayers, key, sizeof(key));
}

/* Note the path of a thread for which others waited. 0 or PMP_ENOMEM. */
static int add_delay(struct page_locks *locks, const struct pmp_path *path)
{
	const struct pmp_entry *entry = path->entry;
	const pid_t key[] = { entry->pid, entry->tid };
	uint32_t number;

	if (!entry->waits || !entry->waits->held_delay)
		return 0;
	number = pmp_intern(locks->delayers, key, sizeof(key));
	if (number == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	while (locks->did_capacity <= number) {
		const size_t before = locks->did_capacity;

		if (PMP_RESERVE(&locks->did, &locks->did_capacity, number + 1U))
			return PMP_ENOMEM;
		memset(locks->did + before, 0,
		       (locks->did_capacity - before) * sizeof(*locks->did));
	}
	if (entry->waits->held_delay > locks->did[number].delay)
		locks->did[number] =
			(struct page_holder){ path, entry->waits->held_delay };
	return 0;
}

/* NULL: the holder is unknown, or no delay is charged to it, as when it waits itself. */
static const struct pmp_path *what_holder_did(const struct page_locks *locks,
					      const struct page_lock *row)
{
	const uint32_t number = find_delayer(locks, row->pid, row->holder_tid);

	return number == PMP_INTERN_NONE || !row->holder_tid ? NULL
							     : locks->did[number].most;
}

/* Must be freed even on failure. 0 or PMP_ENOMEM. */
static int make_rows(struct page_locks *locks, struct pmp_tree_paths *paths)
{
	*locks = (struct page_locks){ .paths = paths,
				      .threads = pmp_intern_new(),
				      .holders = pmp_intern_new(),
				      .delayers = pmp_intern_new() };
	if (pmp_lock_names_make(&locks->names, &paths->paths, paths->activities.report) ||
	    !locks->threads || !locks->holders || !locks->delayers)
		return PMP_ENOMEM;
	locks->rows = calloc(locks->names.count + 1, sizeof(*locks->rows));
	if (!locks->rows)
		return PMP_ENOMEM;
	for (size_t i = 0; i < paths->paths.path_count; i++) {
		const uint32_t lock = locks->names.of_path[i];

		if (lock != PMP_LOCK_NAME_NONE &&
		    add_path(locks, lock, &paths->paths.paths[i]))
			return PMP_ENOMEM;
		if (add_delay(locks, &paths->paths.paths[i]))
			return PMP_ENOMEM;
	}
	return 0;
}

static void free_rows(struct page_locks *locks)
{
	pmp_lock_names_free(&locks->names);
	pmp_intern_free(locks->threads);
	pmp_intern_free(locks->holders);
	pmp_intern_free(locks->delayers);
	free(locks->did);
	free(locks->holder_samples);
	free(locks->rows);
}

static void add_row(struct pmp_buf *buf, const struct page_locks *locks, size_t lock)
{
	const struct page_lock *row = &locks->rows[lock];
	const struct pmp_path *did = what_holder_did(locks, row);

	pmp_buf_putc(buf, '[');
	pmp_tree_add_string(buf, locks->names.items[lock].text);
	pmp_buf_putc(buf, ',');
	pmp_tree_add_string(buf, row->meaning ? row->meaning : "");
	pmp_buf_printf(buf, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", row->waited,
		       row->samples, row->threads);
	pmp_tree_add_string(buf, row->holder ? row->holder : "");
	pmp_buf_printf(buf, ",%" PRIu64 ",\"", row->holder_samples);
	pmp_tree_add_stack(buf, &locks->paths->paths, row->most, pmp_wait_is_internal,
			   SHOWN);
	pmp_buf_puts(buf, "\",\"");
	if (did)
		pmp_tree_add_stack(buf, &locks->paths->paths, did, pmp_wait_is_internal,
				   SHOWN);
	pmp_buf_puts(buf, "\"]");
}

void pmp_tree_add_locks(struct pmp_out *out, struct pmp_tree_paths *paths)
{
	struct page_locks locks;

	if (make_rows(&locks, paths)) {
		pmp_buf_fail(&out->buf);
		free_rows(&locks);
		return;
	}
	pmp_buf_putc(&out->buf, '[');
	for (size_t i = 0; i < locks.names.count && i < LOCKS; i++) {
		pmp_buf_puts(&out->buf, i ? ",\n" : "\n");
		add_row(&out->buf, &locks, i);
		pmp_out_maybe_flush(out);
	}
	pmp_buf_putc(&out->buf, ']');
	free_rows(&locks);
}
