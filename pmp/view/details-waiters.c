/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waiters of the chosen lock, and hints about a holder that it does not name. */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "view/view.h"

#define GROUPS_MAX 32  /* of waiters */
#define WAITERS_MAX 64 /* shown one by one */
#define OTHERS_MAX 16  /* other processes they wait for */
#define INTERNAL_MAX 6 /* functions of the C library to skip */
#define TEXT_SIZE 512

void details_draw_text(struct canvas_part *part, unsigned style, const char *text)
{
	int line = canvas_part_next(part);

	if (line >= 0)
		canvas_text(part->canvas, line, 0, -1, style, text);
}

/* The next thread from *i on that waits for the lock of a row; false: none. */
static bool next_waiter(const struct model *model, const struct view_row *row, size_t *i,
			struct pmp_live_thread *thread)
{
	size_t count = pmp_live_thread_count(model->live);

	for (; *i < model->thread_count && *i < count; (*i)++) {
		*thread = model_thread(model, *i);
		if (model->thread_rows[*i].passes && waits_for_row(model, thread, row) &&
		    thread->stack < model->stack_count)
			return true;
	}
	return false;
}

/* ---- hints ---------------------------------------------------------------------------- */

/* Shown if all waiters agree, as they wait for one lock. */
static void draw_taker(const struct model *model, struct canvas_part *part,
		       const struct view_row *row)
{
	struct pmp_live_thread thread, taker = { .size = sizeof(taker) };
	size_t found = SIZE_MAX;
	char text[TEXT_SIZE], name[64];
	uint64_t taken = 0;

	for (size_t i = 0; next_waiter(model, row, &i, &thread); i++) {
		if (thread.taker == SIZE_MAX ||
		    (found != SIZE_MAX && thread.taker != found))
			return;
		found = thread.taker;
		taken = thread.taken;
	}
	if (found == SIZE_MAX)
		return;
	taker = model_thread(model, found);
	snprintf(text, sizeof(text), " inferred: %d \"%s\" took it in the last %.1f s",
		 (int)taker.tid, pmp_escape(taker.name, name, sizeof(name)),
		 (double)taken / 1e9);
	details_draw_text(part, 0, text);
}

void details_draw_hints(const struct model *model, struct canvas_part *part,
			const struct view_row *row)
{
	const struct lock_row *lock = lock_row(model, row);
	char text[TEXT_SIZE];

	if (lock->rank != LOCK_ROW_LOCK)
		return;
	if (lock->else_see && *lock->else_see) {
		snprintf(text, sizeof(text), " if %s is not loaded, see %s", lock->ask,
			 lock->else_see);
		details_draw_text(part, 0, text);
	}
	if (!row_is_several(lock))
		draw_taker(model, part, row);
}

/* ---- stacks --------------------------------------------------------------------------- */

/* From the function that was called in order to wait; innermost first. */
static char *waiting_text(const struct model *model, uint32_t number, char *buffer,
			  size_t size)
{
	const struct name_chain *chain = &model->chains[number];
	uint32_t first = 0;
	bool begun = false;

	buffer[0] = '\0';
	if (number >= model->chain_count)
		return buffer;
	while (first + 1 < chain->count && first < INTERNAL_MAX &&
	       pmp_wait_is_internal(
		       model->names.names[model->names_of_chains[chain->first + first]]
			       .full))
		first++;
	for (uint32_t i = first; i < chain->count; i++, begun = true)
		text_append(buffer, size, "%s%s", begun ? "<" : "",
			    model_name(model, model->names_of_chains[chain->first + i]));
	return buffer;
}

/* ---- in groups ------------------------------------------------------------------------ */

/* Threads of a group that wait with the same functions on their stacks. */
struct wait_group {
	uint32_t name, chain;
	size_t count;
};

/* Count it with the same name and functions, or as a new group if there is room. */
static size_t add_waiter(struct wait_group *groups, size_t count, uint32_t name,
			 uint32_t chain)
{
	for (size_t i = 0; i < count; i++) {
		if (groups[i].name == name && groups[i].chain == chain) {
			groups[i].count++;
			return count;
		}
	}
	if (count == GROUPS_MAX)
		return count;
	groups[count] = (struct wait_group){ name, chain, 1 };
	return count + 1;
}

static void draw_groups(const struct model *model, struct canvas_part *part,
			const struct view_row *row)
{
	struct wait_group groups[GROUPS_MAX];
	size_t count = 0;
	char text[ROW_TEXT], stack[ROW_TEXT];
	struct pmp_live_thread thread;

	for (size_t i = 0; next_waiter(model, row, &i, &thread); i++) {
		const struct thread_row *names = &model->thread_rows[i];

		count = add_waiter(groups, count,
				   model->settings.ungrouped ? names->name : names->group,
				   model->stacks[thread.stack].chain);
	}
	for (size_t i = 0; i < count; i++) {
		waiting_text(model, groups[i].chain, stack, sizeof(stack));
		snprintf(text, sizeof(text), " %5zu %s  %.*s", groups[i].count,
			 model_name(model, groups[i].name), ROW_TEXT / 2, stack);
		details_draw_text(part, STYLE_YELLOW, text);
	}
}

/* ---- one by one ----------------------------------------------------------------------- */

struct waiter {
	size_t thread; /* index */
	uint64_t time;
	bool found; /* time: how long all snapshots have found it */
};

/* An event is a different one each time, so only the present sleep counts. */
static struct waiter waiter_of(const struct lock_row *lock, size_t i,
			       const struct pmp_live_thread *thread)
{
	bool found = lock->rank != LOCK_ROW_OTHER && thread->found > thread->waited;

	return (struct waiter){ i, found ? thread->found : thread->waited, found };
}

/* Insert by time, longest first; if full, drop the shortest. Returns the count. */
static size_t insert_waiter(struct waiter *waiters, size_t count, struct waiter waiter)
{
	size_t at = count;

	while (at && waiters[at - 1].time < waiter.time)
		at--;
	if (at == WAITERS_MAX)
		return count;
	count -= count == WAITERS_MAX;
	memmove(&waiters[at + 1], &waiters[at], (count - at) * sizeof(*waiters));
	waiters[at] = waiter;
	return count + 1;
}

static void draw_waiter(const struct model *model, struct canvas_part *part,
			const struct waiter *waiter)
{
	const struct pmp_live_thread thread = model_thread(model, waiter->thread);
	char text[ROW_TEXT], stack[ROW_TEXT], time[32] = "-";

	if (waiter->found)
		found_time_text(waiter->time, time, sizeof(time));
	else if (waiter->time)
		wait_time_text(waiter->time, time, sizeof(time));
	waiting_text(model, model->stacks[thread.stack].chain, stack, sizeof(stack));
	snprintf(text, sizeof(text), " %7d %7s %s  %.*s", (int)thread.tid, time,
		 model_name(model, model->thread_rows[waiter->thread].name), ROW_TEXT / 2,
		 stack);
	details_draw_text(part, STYLE_YELLOW, text);
}

static void draw_each(const struct model *model, struct canvas_part *part,
		      const struct view_row *row)
{
	struct waiter waiters[WAITERS_MAX];
	struct pmp_live_thread thread;
	size_t count = 0, all = 0;
	char text[TEXT_SIZE];

	for (size_t i = 0; next_waiter(model, row, &i, &thread); i++, all++)
		count = insert_waiter(waiters, count,
				      waiter_of(lock_row(model, row), i, &thread));
	for (size_t i = 0; i < count; i++)
		draw_waiter(model, part, &waiters[i]);
	if (all == count)
		return;
	snprintf(text, sizeof(text), " and %zu more", all - count);
	details_draw_text(part, STYLE_YELLOW, text);
}

/* ---- other processes ------------------------------------------------------------------ */

/* One line for each object, even if many threads wait for it. */
static void draw_peers(const struct model *model, struct canvas_part *part,
		       const struct view_row *row)
{
	char text[ROW_TEXT], last[TEXT_SIZE] = "", peers[TEXT_SIZE];
	struct pmp_live_thread thread;
	size_t count = 0;

	for (size_t i = 0; count < OTHERS_MAX && next_waiter(model, row, &i, &thread);
	     i++) {
		if (thread.outside == SIZE_MAX)
			continue;
		thread_peers_text(model, &thread, peers, sizeof(peers));
		if (!*peers || strcmp(peers, last) == 0)
			continue;
		snprintf(last, sizeof(last), "%s", peers);
		snprintf(text, sizeof(text), " %s", peers);
		details_draw_text(part, 0, text);
		count++;
	}
}

void details_draw_waiters(const struct model *model, struct canvas_part *part,
			  const struct view_row *row)
{
	if (model->settings.split)
		draw_each(model, part, row);
	else
		draw_groups(model, part, row);
	draw_peers(model, part, row);
}
