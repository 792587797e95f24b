/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks as rows. Counted waits come first, then the threads, which tell who waits now and
 * for whom. A deadlock has rows for whatever its threads wait for. Events, and locks with
 * a meaning, are not told apart: each kind and meaning is one row.
 */
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define CHAIN_MAX 32 /* threads from a waiter to the root */

/* The row of a lock, made if needed. NULL: no memory. */
static struct view_row *find_row(struct model *model, const struct lock_key *key,
				 uint32_t process)
{
	struct row_list *list = &model->list;
	struct view_row *row;
	uint32_t *number;
	bool added;

	number = hash_get(&model->build->table, key->identity, (uint32_t)list->row_count,
			  &added);
	/* Other numbers belong to objects, whose keys a process can choose. */
	if (number && !added && *number >= list->row_count) {
		*number = (uint32_t)list->row_count;
		added = true;
	}
	if (number && !added && key->row.rank < list->locks[*number].rank) {
		list->locks[*number].lock = key->row.lock;
		list->locks[*number].kind = key->row.kind;
		list->locks[*number].rank = key->row.rank;
	}
	if (!number || !added)
		return number ? &list->rows[*number] : NULL;
	if (key->wanted != PMP_LOCATION_NONE && !model_want(model, key->wanted))
		return NULL;
	if (!MODEL_RESERVE(&list->locks, &list->lock_capacity, list->row_count + 1))
		return NULL;
	row = model_add_row(model, key->identity);
	if (!row)
		return NULL;
	row->process = process;
	row->thread = NAME_NONE;
	list->locks[list->row_count - 1] = key->row;
	return row;
}

static struct lock_row *more_of(struct model *model, const struct view_row *row)
{
	return &model->list.locks[row - model->list.rows];
}

/* ---- counted waits ----------------------------------------------------------------- */

/* Did it wait for something that gets a row? In a saved profile only locks do. */
static bool has_waited(const struct model *model, const struct pmp_live_counter *counter)
{
	if (counter->waits_for_lock)
		return true;
	if (counter->lock == SIZE_MAX)
		return false;
	return !model->saved ||
	       model_state(model, counter->state, false, counter->stack) == 'L';
}

/* A wait that only functions tell has no measured time: estimate it from the count. */
static uint64_t delay_of(const struct model *model,
			 const struct pmp_live_counter *counter, uint32_t process)
{
	struct pmp_live_window window = { .size = sizeof(window) };

	if (counter->lock != SIZE_MAX)
		return counter->delay;
	pmp_live_window(model->live, model_window(model), &window);
	return (uint64_t)((double)counter->count * model->weights[process] *
			  (double)window.span);
}

static bool add_counter(struct model *model, const struct pmp_live_counter *counter,
			uint32_t process)
{
	struct lock_key key = model_lock_key(model, process, counter->stack,
					     counter->lock, counter->kind);
	struct view_row *row = find_row(model, &key, process);
	uint64_t delay = delay_of(model, counter, process);
	struct lock_row *more;

	if (!row)
		return false;
	more = more_of(model, row);
	more->delay += delay;
	if (more->longest < counter->longest)
		more->longest = counter->longest;
	if (more->longest_found < counter->longest_found)
		more->longest_found = counter->longest_found;
	if (delay >= row->most) {
		row->most = delay;
		row->stack = (uint32_t)counter->stack;
		if (model->saved)
			more->lock = (uint32_t)counter->lock;
	}
	/* An amount of something else is no number of waits. */
	row->count += model->saved && !*model->unit ? counter->count : 0;
	return true;
}

static bool count_counter(struct model *model, size_t i)
{
	struct pmp_live_counter counter;
	const struct thread_row *thread;
	bool passes;

	if (!model_counter(model, i, &counter))
		return false;
	if (!counter.count || counter.thread >= model->build->prepared ||
	    !has_waited(model, &counter))
		return true;
	thread = &model->thread_rows[counter.thread];
	if (!thread->passes)
		return true;
	if (!model_passes(model, counter.stack, counter.state, counter.waits_for_lock,
			  counter.syscall, &passes))
		return false;
	return !passes || add_counter(model, &counter, thread->process);
}

/* ---- who waits now -------------------------------------------------------------------- */

/* How much a waiter tells of the lock's holder. One in a queue knows only who is next. */
static unsigned tells(const struct pmp_live_thread *thread)
{
	if (thread->queued)
		return 1;
	if (thread->holder != SIZE_MAX)
		return thread->deadlocked ? 4 : 3;
	return thread->holder_tid || thread->readers ? 2 : 0;
}

/* The stack of the holder is shown with the row. */
static bool take_holder(struct model *model, struct lock_row *more, size_t waiter,
			const struct pmp_live_thread *thread)
{
	struct pmp_live_thread holder, before;

	if (more->waiter != NAME_NONE) {
		before = model_thread(model, more->waiter);
		if (tells(thread) <= tells(&before))
			return true;
	}
	more->waiter = (uint32_t)waiter;
	more->holder = NAME_NONE;
	more->behind = 0;
	if (thread->holder == SIZE_MAX)
		return true;
	holder = model_thread(model, thread->holder);
	more->holder = (uint32_t)thread->holder;
	more->behind = holder.behind;
	return model_chain_of(model, holder.stack) != NAME_NONE;
}

/* Count each object once. The table also has keys for objects, which are no rows. */
static bool count_object(struct model *model, const struct view_row *row, uint64_t object)
{
	struct lock_row *more = more_of(model, row);
	bool added;

	if (!object || !more->many)
		return true;
	if (!hash_get(&model->build->table, hash_mix(row->identity, object), NAME_NONE,
		      &added))
		return false;
	more->objects += added;
	more->object = object;
	return true;
}

/* Handle a thread that waits now, and what it waits for. False: no memory. */
typedef bool waiter_step(struct model *model, size_t i,
			 const struct pmp_live_thread *thread,
			 const struct lock_key *key);

static struct lock_key key_of(const struct model *model,
			      const struct pmp_live_thread *thread)
{
	return model_lock_key(model, (uint32_t)thread->process, thread->stack,
			      thread->lock, thread->kind);
}

/* Call step if thread i waits now for something that has a row. */
static bool take_waiter(struct model *model, size_t i, waiter_step *step)
{
	const struct pmp_live_thread thread = model_thread(model, i);
	struct lock_key key;
	bool passes;

	if (!thread.present || !model->thread_rows[i].passes ||
	    (thread.lock == SIZE_MAX && !thread.waits_for_lock))
		return true;
	if (!model_passes(model, thread.stack, thread.state, thread.waits_for_lock,
			  thread.syscall, &passes))
		return false;
	if (!passes)
		return true;
	key = key_of(model, &thread);
	return step(model, i, &thread, &key);
}

static bool count_thread(struct model *model, size_t i,
			 const struct pmp_live_thread *thread, const struct lock_key *key)
{
	const struct stack_wait *says = wait_says(model, thread->stack, thread->kind);
	struct view_row *row = find_row(model, key, (uint32_t)thread->process);
	struct lock_row *more;

	if (!row)
		return false;
	more = more_of(model, row);
	row->count++;
	if (thread->deadlocked)
		more->rank = LOCK_ROW_DEADLOCK;
	if (more->waiter == NAME_NONE)
		row->stack = (uint32_t)thread->stack;
	if (!(says && says->placeless) && !count_object(model, row, thread->object))
		return false;
	return take_holder(model, more, i, thread);
}

/* ---- indirect waiters -------------------------------------------------------------- */

static bool waits_for_thread(const struct model *model, struct pmp_live_thread waiter,
			     size_t thread)
{
	for (int i = 0; i < CHAIN_MAX && waiter.holder != SIZE_MAX; i++) {
		if (waiter.holder == thread)
			return true;
		waiter = model_thread(model, waiter.holder);
	}
	return false;
}

/* A thread found waiting for the lock, its holder unknown, waits for the row's holder. */
static bool count_behind(struct model *model, size_t i,
			 const struct pmp_live_thread *thread, const struct lock_key *key)
{
	const uint32_t *number = hash_find(&model->build->table, key->identity);
	struct lock_row *more;

	if (!number || *number >= model->list.row_count)
		return true;
	more = &model->list.locks[*number];
	if (more->holder != NAME_NONE && more->holder != i && !more->many &&
	    !waits_for_thread(model, *thread, more->holder))
		more->behind += 1 + thread->behind;
	return true;
}

/* ---- the step --------------------------------------------------------------------------- */

static bool begin(struct model *model)
{
	struct build *build = model->build;

	model_part_rows(&model->list);
	model->list.row_count = 0;
	hash_free(&build->table);
	build->counters = pmp_live_counter_count(model->live);
	build->begun = true;
	return true;
}

static bool count(struct model *model, size_t at)
{
	const struct build *build = model->build;

	if (at < build->counters)
		return count_counter(model, at);
	at -= build->counters;
	return at < build->prepared
		       ? take_waiter(model, at, count_thread)
		       : take_waiter(model, at - build->prepared, count_behind);
}

enum step_progress model_locks(struct model *model, uint64_t until)
{
	struct build *build = model->build;
	size_t end;

	if (!build->begun && !begin(model))
		return STEP_FAILED;
	/* A saved profile has no threads that wait now. */
	end = build->counters + (model->saved ? 0 : 2 * build->prepared);
	while (build->at < end) {
		if (!count(model, build->at))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	return STEP_DONE;
}

bool waits_for_row(const struct model *model, const struct pmp_live_thread *thread,
		   const struct view_row *row)
{
	if (!thread->present || (thread->lock == SIZE_MAX && !thread->waits_for_lock))
		return false;
	return key_of(model, thread).identity == row->identity;
}
