/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chosen lock: who holds it, for whom that one waits, what else it holds, who waits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "view/view.h"

#define CHAIN_MAX 32   /* threads from a waiter to the one that has to finish first */
#define OTHERS_MAX 16  /* locks of one holder */
#define GROUPS_MAX 32  /* of waiters */
#define INTERNAL_MAX 6 /* functions of the C library that are left out */
#define TEXT_SIZE 512

/* Threads of a group that wait with the same functions on their stacks. */
struct wait_group {
	uint32_t name, chain;
	size_t count;
};

/* Who holds it, or who knows that. */
static void add_holder(const struct model *model, const struct lock_row *lock,
		       char *buffer, size_t size)
{
	const struct pmp_live_thread waiter = model_thread(model, lock->waiter);
	char text[TEXT_SIZE];

	if (waiter.held == PMP_HELD_FREE)
		text_append(buffer, size, ", free: the next thread has been woken");
	else if ((waiter.held || waiter.readers) && !row_is_several(lock))
		text_append(buffer, size, " %s %s", holder_relation(model, &waiter),
			    holder_words(model, &waiter, text, sizeof(text)));
	else if (lock->rank == LOCK_ROW_OTHER)
		return;
	else if (lock->ask && *lock->ask)
		text_append(buffer, size, ", %s knows the holder", lock->ask);
	else
		text_append(buffer, size, ", holder unknown");
}

/* "mutex LOCK_log held by 28071 "conn-17" (D, fdatasync), 9 wait, 2 for others of it" */
void details_lock_title(const struct view *view, const struct view_row *row, char *buffer,
			size_t size)
{
	const struct model *model = &view->model;
	const struct lock_row *lock = lock_row(model, row);
	struct pmp_live_lock known;
	char text[TEXT_SIZE], name[64];

	row_lock_text(model, row, text, sizeof(text));
	snprintf(buffer, size, "%s%s",
		 lock->rank == LOCK_ROW_DEADLOCK ? "DEADLOCK: " : "", text);
	if (model->saved) {
		known = lock_of(model, lock->lock, 0, text, sizeof(text));
		if (*known.holder)
			text_append(buffer, size, " held by %s",
				    pmp_escape(known.holder, name, sizeof(name)));
		return;
	}
	if (lock->waiter == NAME_NONE) {
		text_append(buffer, size, ", no thread waits now");
		return;
	}
	add_holder(model, lock, buffer, size);
	text_append(buffer, size, ", %" PRIu64 " wait%s", row->count,
		    row->count == 1 ? "s" : "");
	if (lock->behind > row->count && lock->rank == LOCK_ROW_LOCK)
		text_append(buffer, size, ", %zu for others of it",
			    lock->behind - (size_t)row->count);
}

static void draw_text(struct canvas_part *part, unsigned style, const char *text)
{
	int line = canvas_part_next(part);

	if (line >= 0)
		canvas_text(part->canvas, line, 0, -1, style, text);
}

/* The functions of a stack in a line, the innermost first. */
static void chain_text(const struct model *model, size_t stack, char *buffer, size_t size)
{
	buffer[0] = '\0';
	if (stack < model->stack_count && model->stacks[stack].chain < model->chain_count)
		model_chain(model, model->stacks[stack].chain, buffer, size);
}

/* For whom the holder waits, and so on to the one that has to finish first. */
static void draw_way(const struct model *model, struct canvas_part *part, uint32_t holder)
{
	struct pmp_live_thread thread = model_thread(model, holder);
	char text[ROW_TEXT], name[TEXT_SIZE], words[TEXT_SIZE];

	for (int i = 0; i < CHAIN_MAX; i++) {
		if (thread.lock == SIZE_MAX && !thread.waits_for_lock)
			return;
		snprintf(text, sizeof(text), " %s waits for %s",
			 i ? "which" : "the holder",
			 thread_lock_text(model, &thread, false, name, sizeof(name)));
		if (thread.held || thread.readers)
			text_append(text, sizeof(text), " %s %s",
				    holder_relation(model, &thread),
				    holder_words(model, &thread, words, sizeof(words)));
		draw_text(part, thread.deadlocked ? STYLE_RED : 0, text);
		if (thread.holder == SIZE_MAX || thread.holder == holder)
			return;
		thread = model_thread(model, thread.holder);
	}
}

/* Other locks that it holds and threads wait for. */
static void draw_others(const struct model *model, struct canvas_part *part,
			uint32_t holder, const struct view_row *but)
{
	size_t locks[OTHERS_MAX], waiters[OTHERS_MAX], waiting[OTHERS_MAX], count = 0;
	char text[TEXT_SIZE], name[TEXT_SIZE];

	for (size_t i = 0; i < pmp_live_thread_count(model->live); i++) {
		struct pmp_live_thread thread = model_thread(model, i);
		size_t k = 0;

		if (!thread.present || thread.holder != holder || thread.queued ||
		    !thread.waits_for_lock || waits_for_row(model, &thread, but))
			continue;
		while (k < count && locks[k] != thread.lock)
			k++;
		if (k == OTHERS_MAX)
			continue;
		waiting[k] = k == count ? 1 : waiting[k] + 1;
		locks[k] = thread.lock;
		waiters[k] = i;
		count += k == count;
	}
	for (size_t k = 0; k < count; k++) {
		const struct pmp_live_thread waiter = model_thread(model, waiters[k]);

		snprintf(text, sizeof(text), " it also holds %s: %zu wait%s",
			 thread_lock_text(model, &waiter, false, name, sizeof(name)),
			 waiting[k], waiting[k] == 1 ? "s" : "");
		draw_text(part, 0, text);
	}
}

/* The same name and functions: one more of it; else a new one if there is room. */
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

/* From the function that was called to wait on, the innermost first. */
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

static void draw_waiters(const struct model *model, struct canvas_part *part,
			 const struct view_row *row)
{
	struct wait_group groups[GROUPS_MAX];
	size_t count = 0;
	char text[ROW_TEXT], stack[ROW_TEXT];

	for (size_t i = 0;
	     i < model->thread_count && i < pmp_live_thread_count(model->live); i++) {
		struct pmp_live_thread thread = model_thread(model, i);
		const struct thread_row *names = &model->thread_rows[i];

		if (!names->passes || !waits_for_row(model, &thread, row) ||
		    thread.stack >= model->stack_count)
			continue;
		count = add_waiter(groups, count,
				   model->settings.ungrouped ? names->name : names->group,
				   model->stacks[thread.stack].chain);
	}
	for (size_t i = 0; i < count; i++) {
		waiting_text(model, groups[i].chain, stack, sizeof(stack));
		snprintf(text, sizeof(text), " %5zu %s  %.*s", groups[i].count,
			 model_name(model, groups[i].name), ROW_TEXT / 2, stack);
		draw_text(part, STYLE_YELLOW, text);
	}
}

/* Of each thing one line, though many may wait for it. */
static void draw_peers(const struct model *model, struct canvas_part *part,
		       const struct view_row *row)
{
	char text[ROW_TEXT], last[TEXT_SIZE] = "", peers[TEXT_SIZE];
	size_t count = 0;

	for (size_t i = 0; i < model->thread_count &&
			   i < pmp_live_thread_count(model->live) && count < OTHERS_MAX;
	     i++) {
		struct pmp_live_thread thread = model_thread(model, i);

		if (thread.outside == SIZE_MAX || !model->thread_rows[i].passes ||
		    !waits_for_row(model, &thread, row))
			continue;
		thread_peers_text(model, &thread, peers, sizeof(peers));
		if (!*peers || strcmp(peers, last) == 0)
			continue;
		snprintf(last, sizeof(last), "%s", peers);
		snprintf(text, sizeof(text), " %s", peers);
		draw_text(part, 0, text);
		count++;
	}
}

void details_lock_draw(struct view *view, struct canvas_part *part,
		       const struct view_row *row)
{
	const struct model *model = &view->model;
	const struct lock_row *lock = lock_row(model, row);
	const bool whole = view->screen == SCREEN_STACK;
	const bool has_holder = lock->holder != NAME_NONE && !row_is_several(lock);
	char text[ROW_TEXT];

	if (has_holder) {
		struct pmp_live_thread holder = model_thread(model, lock->holder);

		if (!whole) {
			text[0] = ' ';
			chain_text(model, holder.stack, text + 1, sizeof(text) - 1);
			draw_text(part, 0, text);
		}
		draw_way(model, part, lock->holder);
		draw_others(model, part, lock->holder, row);
	}
	if (!model->saved && lock->waiter != NAME_NONE) {
		draw_text(part, 0, " waiting:");
		draw_waiters(model, part, row);
		draw_peers(model, part, row);
	}
	if (!whole && !model->saved && lock->waiter != NAME_NONE)
		return;
	if (has_holder) {
		draw_text(part, 0, "");
		draw_text(part, STYLE_BOLD, " the holder's stack:");
		details_draw_stack(view, part, model_thread(model, lock->holder).stack);
	} else {
		draw_text(part, STYLE_BOLD, " the stack that has waited the longest:");
		details_draw_stack(view, part, row->stack);
	}
}
