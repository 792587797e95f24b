/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chosen lock: its holder, whom that waits for, what else it holds, the waiters. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "view/view.h"

#define CHAIN_MAX 32  /* threads from a waiter to the root */
#define OTHERS_MAX 16 /* locks of a holder */
#define TEXT_SIZE 512

/* The holder, or where to look it up. */
static void add_holder(const struct model *model, const struct lock_row *lock,
		       char *buffer, size_t size)
{
	const struct pmp_live_thread waiter = model_thread(model, lock->waiter);
	char text[TEXT_SIZE];

	if (waiter.held == PMP_HELD_FREE)
		text_append(buffer, size, ", free: the next thread has been woken");
	else if ((waiter.held || waiter.readers) && !row_is_several(lock))
		text_append(buffer, size, " %s %s%s", holder_relation(model, &waiter),
			    holder_words(model, &waiter, text, sizeof(text)),
			    waiter.moved_on ? " (moved on)" : "");
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

/* The functions of a stack in one line, innermost first. */
static void chain_text(const struct model *model, size_t stack, char *buffer, size_t size)
{
	buffer[0] = '\0';
	if (stack < model->stack_count && model->stacks[stack].chain < model->chain_count)
		model_chain(model, model->stacks[stack].chain, buffer, size);
}

/* Whom the holder waits for, and so on to the thread that has to finish first. */
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
		details_draw_text(part, thread.deadlocked ? STYLE_RED : 0, text);
		if (thread.holder == SIZE_MAX || thread.holder == holder)
			return;
		thread = model_thread(model, thread.holder);
	}
}

/* Other locks that it holds and that threads wait for. */
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
		details_draw_text(part, 0, text);
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
			details_draw_text(part, 0, text);
		}
		draw_way(model, part, lock->holder);
		draw_others(model, part, lock->holder, row);
	}
	if (!model->saved && lock->waiter != NAME_NONE) {
		details_draw_hints(model, part, row);
		details_draw_text(part, 0, " waiting:");
		details_draw_waiters(model, part, row);
	}
	if (!whole && !model->saved && lock->waiter != NAME_NONE)
		return;
	if (has_holder) {
		details_draw_text(part, 0, "");
		details_draw_text(part, STYLE_BOLD, " the holder's stack:");
		details_draw_stack(view, part, model_thread(model, lock->holder).stack);
	} else {
		details_draw_text(part, STYLE_BOLD,
				  " the stack that has waited the longest:");
		details_draw_stack(view, part, row->stack);
	}
}
