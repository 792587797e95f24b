/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks as rows. What was counted of waits for them comes first, then the threads, which
 * say who waits now and for whom. A deadlock has rows whatever its threads wait for.
 */
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define TEXT_SIZE 512

/* One at an address is the same lock, though a look at it may not have shown its kind. In a
 * saved profile each of its holders makes another one of it. */
static uint64_t identity_of(const struct model *model, const struct pmp_live_lock *known,
			    size_t lock)
{
	if (model->saved)
		return hash_text(known->kind);
	return known->address ? hash_mix(known->address, 1) : hash_mix(lock, 2);
}

/* The row of a lock, made if it is new. NULL: no memory. */
static struct view_row *find_row(struct model *model, uint32_t process, size_t lock)
{
	struct row_list *list = &model->list;
	uint64_t identity;
	char text[TEXT_SIZE];
	struct pmp_live_lock known;
	struct view_row *row;
	uint32_t *number;
	bool added;

	known = lock_of(model, lock, text, sizeof(text));
	identity = hash_mix(process + UINT64_C(1), identity_of(model, &known, lock));
	number = hash_get(&model->build->table, identity, (uint32_t)list->row_count,
			  &added);
	if (number && !added && known.is_lock)
		list->locks[*number].lock = (uint32_t)lock;
	if (!number || !added)
		return number ? &list->rows[*number] : NULL;
	if (known.wanted != PMP_LOCATION_NONE && !model_want(model, known.wanted))
		return NULL;
	if (!MODEL_RESERVE(&list->locks, &list->lock_capacity, list->row_count + 1))
		return NULL;
	row = model_add_row(model, identity);
	if (!row)
		return NULL;
	row->process = process;
	row->thread = NAME_NONE;
	list->locks[list->row_count - 1] = (struct lock_row){
		.lock = (uint32_t)lock,
		.waiter = NAME_NONE,
		.holder = NAME_NONE,
	};
	return row;
}

static struct lock_row *more_of(struct model *model, const struct view_row *row)
{
	return &model->list.locks[row - model->list.rows];
}

static bool count_counter(struct model *model, size_t i)
{
	struct pmp_live_counter counter = { .size = sizeof(counter) };
	const struct thread_row *thread;
	struct lock_row *more;
	struct view_row *row;
	bool passes;

	pmp_live_counter(model->live, i, model_window(model), &counter);
	if (!counter.count || counter.lock == SIZE_MAX ||
	    counter.thread >= model->build->prepared)
		return true;
	thread = &model->thread_rows[counter.thread];
	if (!thread->passes)
		return true;
	if (!model_passes(model, counter.stack, counter.state, counter.syscall, &passes))
		return false;
	if (!passes || (!counter.waits_for_lock &&
			model_state(model, counter.state, false, counter.stack) != 'L'))
		return true;
	row = find_row(model, thread->process, counter.lock);
	if (!row)
		return false;
	more = more_of(model, row);
	more->delay += counter.delay;
	if (more->longest < counter.longest)
		more->longest = counter.longest;
	if (counter.delay >= row->most) {
		row->most = counter.delay;
		row->stack = (uint32_t)counter.stack;
		if (model->saved)
			more->lock = (uint32_t)counter.lock;
	}
	row->count += model->saved ? counter.count : 0;
	return true;
}

/* The stack of who holds it is shown with the row. */
static bool take_holder(struct model *model, struct lock_row *more, size_t waiter,
			const struct pmp_live_thread *thread)
{
	struct pmp_live_thread holder = { .size = sizeof(holder) };

	more->waiter = (uint32_t)waiter;
	if (thread->holder == SIZE_MAX)
		return true;
	pmp_live_thread(model->live, thread->holder, &holder);
	more->holder = (uint32_t)thread->holder;
	more->behind = holder.behind;
	return model_chain_of(model, holder.stack) != NAME_NONE;
}

/* One that waits now. */
static bool count_thread(struct model *model, size_t i)
{
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct lock_row *more;
	struct view_row *row;
	bool passes;

	pmp_live_thread(model->live, i, &thread);
	if (!thread.present || thread.lock == SIZE_MAX || !model->thread_rows[i].passes)
		return true;
	if (!model_passes(model, thread.stack, thread.state, thread.syscall, &passes))
		return false;
	if (!passes || (!thread.waits_for_lock && !thread.deadlocked &&
			model_state(model, thread.state, false, thread.stack) != 'L'))
		return true;
	row = find_row(model, (uint32_t)thread.process, thread.lock);
	if (!row)
		return false;
	more = more_of(model, row);
	row->count++;
	more->deadlocked |= thread.deadlocked;
	if (more->waiter != NAME_NONE && more->holder != NAME_NONE)
		return true;
	if (more->waiter == NAME_NONE)
		row->stack = (uint32_t)thread.stack;
	return take_holder(model, more, i, &thread);
}

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

enum step_progress model_locks(struct model *model, uint64_t until)
{
	struct build *build = model->build;

	if (!build->begun && !begin(model))
		return STEP_FAILED;
	while (build->at < build->counters) {
		if (!count_counter(model, build->at))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	/* In a saved profile nobody waits now. */
	while (!model->saved && build->at < build->counters + build->prepared) {
		if (!count_thread(model, build->at - build->counters))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	return STEP_DONE;
}
