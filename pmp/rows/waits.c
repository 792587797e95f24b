/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that say what threads wait for, and for whom. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model.h"
#include "rows/shorten.h"
#include "rows/view-type.h"

#define TEXT_SIZE 512
#define LEAF_MAX 40

struct pmp_live_lock lock_of(const struct model *model, size_t lock, int moved,
			     char *buffer, size_t size)
{
	struct pmp_live_lock known = { .size = sizeof(known), .moved = moved };

	pmp_live_lock(model->live, model->symbolizer, lock, &known, buffer, size);
	return known;
}

void text_append(char *buffer, size_t size, const char *format, ...)
{
	size_t length = strlen(buffer);
	va_list args;

	va_start(args, format);
	vsnprintf(buffer + length, size - length, format, args);
	va_end(args);
}

/* " mysql_bin_log+0x10", " 0x7f31b8001a40 in the heap"; if asked for, name and address */
static void add_object(const struct pmp_live_lock *known, bool address, char *buffer,
		       size_t size)
{
	if (known->inode) {
		text_append(buffer, size, " inode %" PRIu64, known->address);
		return;
	}
	if (*known->name)
		text_append(buffer, size, " %s", known->name);
	if (*known->name && address && known->address)
		text_append(buffer, size, ", 0x%" PRIx64, known->address);
	else if (!*known->name && known->address)
		text_append(buffer, size, " 0x%" PRIx64 "%s%s", known->address,
			    *known->place ? " " : "", known->place);
}

char *wait_time_text(uint64_t time, char *buffer, size_t size)
{
	uint64_t tenths = time / 100000000;

	if (tenths >= 360000)
		snprintf(buffer, size, "%" PRIu64 "h%02" PRIu64 "m", tenths / 36000,
			 tenths / 600 % 60);
	else
		snprintf(buffer, size, "%" PRIu64 ".%us", tenths / 10,
			 (unsigned)(tenths % 10));
	return buffer;
}

char *found_time_text(uint64_t time, char *buffer, size_t size)
{
	uint64_t seconds = time / 1000000000;

	snprintf(buffer, size, ">");
	/* Leave out tenths to make room for the mark. */
	if (seconds >= 1000 && seconds < 36000)
		snprintf(buffer + 1, size - 1, "%" PRIu64 "s", seconds);
	else
		wait_time_text(time, buffer + 1, size - 1);
	return buffer;
}

bool row_is_several(const struct lock_row *lock)
{
	return lock->objects > 1 && lock->rank != LOCK_ROW_DEADLOCK;
}

/* Get what is known of a wait for other processes; its texts are in the buffer. */
static bool outside_of(const struct model *model, const struct pmp_live_thread *thread,
		       struct pmp_live_outside *outside, char *buffer, size_t size)
{
	*outside = (struct pmp_live_outside){ .size = sizeof(*outside), .brief = "" };
	return thread->outside != SIZE_MAX &&
	       pmp_live_outside(model->live, thread->outside, outside, buffer, size);
}

char *thread_lock_text(const struct model *model, const struct pmp_live_thread *thread,
		       bool address, char *buffer, size_t size)
{
	const struct stack_wait *says = wait_says(model, thread->stack, thread->kind);
	struct pmp_live_lock known = { .kind = "", .name = "", .place = "" };
	struct pmp_live_outside outside;
	char text[TEXT_SIZE];

	if (outside_of(model, thread, &outside, text, sizeof(text)) && *outside.brief) {
		snprintf(buffer, size, "%s", address ? outside.text : outside.brief);
		return buffer;
	}
	if (thread->lock != SIZE_MAX)
		known = lock_of(model, thread->lock, says ? says->moved : 0, text,
				sizeof(text));
	if (says && says->ends)
		snprintf(buffer, size, "the end (%s)", says->kind);
	else
		pmp_escape(says ? says->kind : known.kind, buffer, size);
	if (!says || !says->placeless)
		add_object(&known, address, buffer, size);
	if (says && says->meaning != NAME_NONE)
		text_append(buffer, size, " (%s)", model_name(model, says->meaning));
	return buffer;
}

static bool outside_of_row(const struct model *model, const struct lock_row *lock,
			   struct pmp_live_outside *outside, char *buffer, size_t size)
{
	struct pmp_live_thread waiter;

	if (lock->waiter == NAME_NONE || row_is_several(lock))
		return false;
	waiter = model_thread(model, lock->waiter);
	return outside_of(model, &waiter, outside, buffer, size) && *outside->brief;
}

char *row_object_text(const struct model *model, const struct view_row *row, bool address,
		      char *buffer, size_t size)
{
	const struct lock_row *lock = lock_row(model, row);
	struct pmp_live_lock known = { .name = "", .place = "" };
	struct pmp_live_outside outside;
	char text[TEXT_SIZE];

	buffer[0] = '\0';
	if (outside_of_row(model, lock, &outside, text, sizeof(text))) {
		snprintf(buffer, size, " %s", address ? outside.text : outside.brief);
		return buffer;
	}
	if (lock->many && lock->objects != 1) {
		if (lock->objects)
			snprintf(buffer, size, " %zu objects", lock->objects);
		return buffer;
	}
	if (lock->lock != NAME_NONE)
		known = lock_of(model, lock->lock, lock->moved, text, sizeof(text));
	if (lock->many && !*known.name && !lock->ends)
		known.address = lock->object;
	add_object(&known, address, buffer, size);
	return buffer;
}

char *row_kind_text(const struct model *model, const struct view_row *row, char *buffer,
		    size_t size)
{
	const struct lock_row *lock = lock_row(model, row);
	char text[TEXT_SIZE];

	buffer[0] = '\0';
	if (lock->kind)
		snprintf(buffer, size, "%s", lock->kind);
	else if (lock->lock != NAME_NONE)
		pmp_escape(lock_of(model, lock->lock, 0, text, sizeof(text)).kind, buffer,
			   size);
	return buffer;
}

char *row_meaning_text(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	const struct lock_row *lock = lock_row(model, row);
	char text[TEXT_SIZE];

	buffer[0] = '\0';
	if (lock->meaning != NAME_NONE)
		snprintf(buffer, size, "%s", model_name(model, lock->meaning));
	else if (model->saved && lock->lock != NAME_NONE)
		pmp_escape(lock_of(model, lock->lock, 0, text, sizeof(text)).meaning,
			   buffer, size);
	return buffer;
}

char *thread_peers_text(const struct model *model, const struct pmp_live_thread *thread,
			char *buffer, size_t size)
{
	struct pmp_live_outside outside;
	char text[TEXT_SIZE];

	buffer[0] = '\0';
	if (outside_of(model, thread, &outside, text, sizeof(text)) && *outside.brief)
		snprintf(buffer, size, "%s%s%s", outside.text, *outside.who ? ": " : "",
			 outside.who);
	return buffer;
}

char *row_lock_text(const struct model *model, const struct view_row *row, char *buffer,
		    size_t size)
{
	const struct lock_row *lock = lock_row(model, row);
	char text[TEXT_SIZE], object[TEXT_SIZE];
	struct pmp_live_outside outside;

	if (outside_of_row(model, lock, &outside, text, sizeof(text))) {
		snprintf(buffer, size, "%s", outside.brief);
		return buffer;
	}
	row_kind_text(model, row, text, sizeof(text));
	if (lock->many && lock->objects > 1)
		snprintf(buffer, size, "%zu %s%s", lock->objects, text,
			 *text && text[strlen(text) - 1] == 'x' ? "es" : "s");
	else
		snprintf(buffer, size, "%s%s", text,
			 row_object_text(model, row, false, object, sizeof(object)));
	if (*row_meaning_text(model, row, text, sizeof(text)))
		text_append(buffer, size, " (%s)", text);
	return buffer;
}

char *leaf_text(const struct model *model, size_t stack, char *buffer, size_t size)
{
	struct pmp_live_stack found = { .size = sizeof(found) };
	struct pmp_frame_info info = { .size = sizeof(info) };
	char name[TEXT_SIZE];

	buffer[0] = '\0';
	if (stack >= pmp_live_stack_count(model->live))
		return buffer;
	pmp_live_stack(model->live, stack, &found);
	if (!found.count ||
	    !pmp_symbolizer_frame(model->symbolizer, found.locations[0], 0, &info))
		return buffer;
	pmp_escape(info.function, name, sizeof(name));
	shorten_name(name, buffer, size < LEAF_MAX ? size : LEAF_MAX);
	return buffer;
}

/* What is special about a holder, or NULL. */
static const char *special_text(enum pmp_held held)
{
	switch (held) {
	case PMP_HELD_BY_PROCESS: return "of another process";
	case PMP_HELD_BEFORE_FORK: return "before the fork";
	case PMP_HELD_BY_ENDED: return "ended";
	default: return NULL;
	}
}

char *holder_text(const struct model *model, const struct pmp_live_thread *waiter,
		  char *buffer, size_t size)
{
	struct pmp_live_outside outside;
	char name[64], text[TEXT_SIZE];

	if (waiter->holder != SIZE_MAX) {
		struct pmp_live_thread holder = model_thread(model, waiter->holder);

		snprintf(buffer, size, "%d %s %c", (int)holder.tid,
			 pmp_escape(holder.name, name, sizeof(name)),
			 model_state(model, holder.state, holder.waits_for_lock,
				     holder.stack));
	} else if (outside_of(model, waiter, &outside, text, sizeof(text)) &&
		   outside.pid) {
		snprintf(buffer, size, "%d %s", (int)outside.pid, outside.name);
	} else if (waiter->holder_tid) {
		const char *special = special_text(waiter->held);

		snprintf(buffer, size, "%d%s%s", (int)waiter->holder_tid,
			 special ? " " : "", special ? special : "");
	} else if (waiter->readers) {
		snprintf(buffer, size, "%" PRIu32 " reader%s", waiter->readers,
			 waiter->readers == 1 ? "" : "s");
	} else {
		snprintf(buffer, size, waiter->held == PMP_HELD_FREE ? "free" : "-");
	}
	return buffer;
}

char *holder_words(const struct model *model, const struct pmp_live_thread *waiter,
		   char *buffer, size_t size)
{
	char name[64], leaf[64];

	if (waiter->held == PMP_HELD_BY_ITSELF) {
		snprintf(buffer, size, "itself");
	} else if (waiter->holder != SIZE_MAX) {
		struct pmp_live_thread holder = model_thread(model, waiter->holder);

		/* If it waits itself, the caller says for what. */
		leaf[0] = '\0';
		if (!holder.waits_for_lock)
			leaf_text(model, holder.stack, leaf, sizeof(leaf));
		snprintf(buffer, size, "%d \"%s\" (%c%s%s)", (int)holder.tid,
			 pmp_escape(holder.name, name, sizeof(name)),
			 model_state(model, holder.state, holder.waits_for_lock,
				     holder.stack),
			 *leaf ? ", " : "", leaf);
	} else {
		holder_text(model, waiter, buffer, size);
	}
	return buffer;
}

const struct lock_row *lock_row(const struct model *model, const struct view_row *row)
{
	return &model->list.locks[row - model->list.rows];
}

const char *holder_relation(const struct model *model,
			    const struct pmp_live_thread *waiter)
{
	const struct stack_wait *says = wait_says(model, waiter->stack, waiter->kind);

	if (says && says->ends)
		return "of";
	return waiter->queued ? "after" : "held by";
}

char *wait_words(const struct model *model, const struct pmp_live_thread *waiter,
		 char *buffer, size_t size)
{
	char text[TEXT_SIZE], words[TEXT_SIZE];
	struct pmp_live_outside outside;
	const char *holder = "";

	if (waiter->lock != SIZE_MAX)
		holder = lock_of(model, waiter->lock, 0, text, sizeof(text)).holder;
	thread_lock_text(model, waiter, true, buffer, size);
	if (*holder)
		text_append(buffer, size, " held by %s",
			    pmp_escape(holder, words, sizeof(words)));
	else if (outside_of(model, waiter, &outside, text, sizeof(text)) &&
		 *outside.brief)
		text_append(buffer, size, "%s%s", *outside.who ? ": " : "", outside.who);
	else if (waiter->held == PMP_HELD_FREE)
		text_append(buffer, size, " (free)");
	else if (waiter->held || waiter->readers)
		text_append(buffer, size, " %s %s", holder_relation(model, waiter),
			    holder_words(model, waiter, words, sizeof(words)));
	return buffer;
}

size_t deadlock_count(const struct model *model)
{
	size_t count = 0;

	for (size_t i = 0; model->live && i < pmp_live_process_count(model->live); i++) {
		struct pmp_live_process process = { .size = sizeof(process) };

		pmp_live_process(model->live, i, PMP_WINDOW_START, &process);
		count += process.deadlocks;
	}
	return count;
}

bool waits_for_something(const struct model *model, const struct pmp_live_thread *thread)
{
	const struct stack_wait *says = wait_says(model, thread->stack, thread->kind);
	char text[TEXT_SIZE];

	if (thread->waits_for_lock ||
	    (thread->lock != SIZE_MAX && says && says->meaning != NAME_NONE))
		return true;
	if (thread->lock == SIZE_MAX)
		return false;
	return thread->holder_tid || thread->outside != SIZE_MAX ||
	       lock_of(model, thread->lock, 0, text, sizeof(text)).address;
}
