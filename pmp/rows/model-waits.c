/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the functions of a stack say of its thread's wait: asked once for each stack and
 * kind of wait, when all functions have names. model-locks.c makes rows of it.
 */
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define TEXT_SIZE 512

/* ---- learning --------------------------------------------------------------------- */

/* Where 1 + the index of the entry for a kind is stored; or a 0, where to store it. */
static uint32_t *find_place(struct model *model, struct stack_names *stack, unsigned kind)
{
	uint32_t *at = &stack->wait;

	while (*at && model->waits[*at - 1].of != kind)
		at = &model->waits[*at - 1].next;
	return at;
}

static bool ask(struct model *model, size_t stack, unsigned kind, struct stack_wait *wait)
{
	struct pmp_live_wait says = { .size = sizeof(says) };

	if (!model->live_waits)
		model->live_waits = pmp_live_waits_new(model->symbolizer, model->filter);
	if (!model->live_waits)
		return false;
	pmp_live_wait(model->live_waits, model->live, stack, kind, &says);
	*wait = (struct stack_wait){
		.kind = says.kind,
		.ask = says.ask,
		.else_see = says.else_see,
		.hash = hash_mix(hash_text(says.kind), hash_text(says.meaning)),
		.meaning = NAME_NONE,
		.moved = says.moved,
		.of = (uint8_t)kind,
		.is_lock = says.is_lock,
		.ends = says.ends,
		.vetoed = says.vetoed,
		.placeless = says.placeless,
		.final = says.final,
	};
	if (*says.meaning)
		wait->meaning = names_add(&model->names, says.meaning, "");
	return !*says.meaning || wait->meaning != NAME_NONE;
}

bool model_learn_wait(struct model *model, size_t stack, unsigned kind)
{
	struct stack_wait wait;
	uint32_t *place;

	if (model->saved)
		return true;
	if (!model_extend(&model->stacks, &model->stack_count, stack + 1,
			  sizeof(*model->stacks)))
		return false;
	/* Most stacks have kind 0: ask once, when they are final, not each time before. */
	if (!kind &&
	    (model->stacks[stack].waits_for_nothing || !model->stacks[stack].final))
		return true;
	place = find_place(model, &model->stacks[stack], kind);
	if (*place && model->waits[*place - 1].final)
		return true;
	if (!ask(model, stack, kind, &wait))
		return false;
	if (*place) {
		wait.next = model->waits[*place - 1].next;
		model->waits[*place - 1] = wait;
		return true;
	}
	/* The usual case. */
	if (!kind && !*wait.kind) {
		model->stacks[stack].waits_for_nothing = wait.final;
		return true;
	}
	if (!MODEL_RESERVE(&model->waits, &model->wait_capacity, model->wait_count + 1))
		return false;
	place = find_place(model, &model->stacks[stack], kind);
	model->waits[model->wait_count++] = wait;
	*place = (uint32_t)model->wait_count;
	return true;
}

void model_forget_waits(struct model *model)
{
	pmp_live_waits_free(model->live_waits);
	model->live_waits = NULL;
	model->wait_count = 0;
}

/* ---- asking ------------------------------------------------------------------------ */

const struct stack_wait *wait_says(const struct model *model, size_t stack, unsigned kind)
{
	uint32_t at = stack < model->stack_count ? model->stacks[stack].wait : 0;

	while (at && model->waits[at - 1].of != kind)
		at = model->waits[at - 1].next;
	return at ? &model->waits[at - 1] : NULL;
}

/* In a system call, though not necessarily a known wait. */
static bool is_blocked(char state, const char *syscall)
{
	return state != 'R' && *syscall;
}

struct pmp_live_thread model_thread(const struct model *model, size_t i)
{
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	const struct stack_wait *says;

	pmp_live_thread(model->live, i, &thread);
	says = wait_says(model, thread.stack, thread.kind);
	if (!says || (!thread.kind && !is_blocked(thread.state, thread.syscall)))
		return thread;
	thread.waits_for_lock = says->is_lock && !says->ends;
	if (!says->vetoed)
		return thread;
	thread.holder = SIZE_MAX;
	thread.taker = SIZE_MAX;
	thread.holder_tid = 0;
	thread.held = PMP_HELD_UNKNOWN;
	thread.readers = 0;
	thread.deadlocked = false;
	thread.moved_on = false;
	return thread;
}

bool model_counter(struct model *model, size_t i, struct pmp_live_counter *counter)
{
	const struct stack_wait *says;
	bool blocked;

	*counter = (struct pmp_live_counter){ .size = sizeof(*counter) };
	pmp_live_counter(model->live, i, model_window(model), counter);
	blocked = is_blocked(counter->state, counter->syscall);
	if (!counter->count || (!counter->kind && !blocked))
		return true;
	if (!model_learn_wait(model, counter->stack, counter->kind))
		return false;
	says = wait_says(model, counter->stack, counter->kind);
	if (says)
		counter->waits_for_lock = says->is_lock && !says->ends;
	return true;
}

/* ---- rows --------------------------------------------------------------------------- */

/* In a saved profile there is one lock per holder: merge them by name. */
static uint64_t saved_identity(const struct pmp_live_lock *known)
{
	return hash_mix(hash_mix(hash_text(known->kind), hash_text(known->meaning)),
			hash_text(known->name));
}

static void take_words(struct lock_row *row, const struct stack_wait *says)
{
	row->kind = says->kind;
	row->ask = says->ask;
	row->else_see = says->else_see;
	row->meaning = says->meaning;
	row->moved = says->moved;
	row->ends = says->ends;
}

/* The end of a thread is no lock. The filter may know what no function says. */
static bool is_lock(const struct model *model, const struct stack_wait *says,
		    const struct pmp_live_lock *known, size_t stack)
{
	if (says && says->is_lock)
		return !says->ends;
	return (!says && known->is_lock) || model_state(model, 'S', false, stack) == 'L';
}

/* The same address is the same lock, even if a look at it did not show its kind. */
struct lock_key model_lock_key(const struct model *model, uint32_t process, size_t stack,
			       size_t lock, unsigned kind)
{
	const struct stack_wait *says =
		model->saved ? NULL : wait_says(model, stack, kind);
	struct pmp_live_lock known = { .kind = "",
				       .meaning = "",
				       .wanted = PMP_LOCATION_NONE };
	struct lock_key key = { .row = { .rank = LOCK_ROW_OTHER,
					 .lock = (uint32_t)lock,
					 .meaning = NAME_NONE,
					 .waiter = NAME_NONE,
					 .holder = NAME_NONE } };
	char text[TEXT_SIZE];
	uint64_t identity;

	if (lock != SIZE_MAX)
		known = lock_of(model, lock, says ? says->moved : 0, text, sizeof(text));
	key.wanted = known.wanted;
	if (says)
		take_words(&key.row, says);
	if (is_lock(model, says, &known, stack))
		key.row.rank = LOCK_ROW_LOCK;
	key.row.many = !model->saved &&
		       (key.row.rank == LOCK_ROW_OTHER || key.row.meaning != NAME_NONE ||
			!known.address || (says && says->placeless));
	if (model->saved)
		identity = saved_identity(&known);
	else if (key.row.many)
		identity = hash_mix(says ? says->hash : hash_text(known.kind), 2);
	else
		identity = hash_mix(known.address, known.inode ? 3 : 1);
	key.identity = hash_mix(process + UINT64_C(1), identity);
	return key;
}
