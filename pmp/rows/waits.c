/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads wait for, and for whom, in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model.h"
#include "rows/shorten.h"
#include "rows/view-type.h"

#define TEXT_SIZE 512
#define LEAF_MAX 40

struct pmp_live_lock lock_of(const struct model *model, size_t lock, char *buffer,
			     size_t size)
{
	struct pmp_live_lock known = { .size = sizeof(known) };

	pmp_live_lock(model->live, model->symbolizer, lock, &known, buffer, size);
	return known;
}

char *lock_text(const struct model *model, size_t lock, char *buffer, size_t size)
{
	char text[TEXT_SIZE], kind[TEXT_SIZE];
	struct pmp_live_lock known = lock_of(model, lock, text, sizeof(text));

	pmp_escape(known.kind, kind, sizeof(kind));
	if (*known.name)
		snprintf(buffer, size, "%s %s", kind, known.name);
	else if (known.address)
		snprintf(buffer, size, "%s 0x%" PRIx64 "%s%s", kind, known.address,
			 *known.place ? " " : "", known.place);
	else
		snprintf(buffer, size, "%s", kind);
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

static struct pmp_live_thread thread_at(const struct model *model, size_t i)
{
	struct pmp_live_thread thread = { .size = sizeof(thread) };

	pmp_live_thread(model->live, i, &thread);
	return thread;
}

char *holder_text(const struct model *model, const struct pmp_live_thread *waiter,
		  char *buffer, size_t size)
{
	char name[64];

	if (waiter->holder != SIZE_MAX) {
		struct pmp_live_thread holder = thread_at(model, waiter->holder);

		snprintf(buffer, size, "%d %s %c", (int)holder.tid,
			 pmp_escape(holder.name, name, sizeof(name)),
			 model_state(model, holder.state, holder.waits_for_lock,
				     holder.stack));
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
		struct pmp_live_thread holder = thread_at(model, waiter->holder);

		/* For what it waits is said after it. */
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

char *wait_words(const struct model *model, const struct pmp_live_thread *waiter,
		 char *buffer, size_t size)
{
	char text[TEXT_SIZE], words[TEXT_SIZE];
	struct pmp_live_lock lock = lock_of(model, waiter->lock, text, sizeof(text));
	size_t length;

	lock_text(model, waiter->lock, buffer, size);
	length = strlen(buffer);
	if (*lock.holder)
		snprintf(buffer + length, size - length, " held by %s",
			 pmp_escape(lock.holder, words, sizeof(words)));
	else if (waiter->held == PMP_HELD_FREE)
		snprintf(buffer + length, size - length, " (free)");
	else if (waiter->held || waiter->readers)
		snprintf(buffer + length, size - length, " %s %s",
			 waiter->queued ? "after" : "held by",
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

bool waits_for_row(const struct model *model, const struct pmp_live_thread *thread,
		   const struct view_row *row)
{
	const size_t lock = lock_row(model, row)->lock;
	char text[TEXT_SIZE];
	uint64_t address;

	if (!thread->present || thread->lock == SIZE_MAX ||
	    thread->process != row->process)
		return false;
	address = lock_of(model, lock, text, sizeof(text)).address;
	return thread->lock == lock ||
	       (address &&
		address == lock_of(model, thread->lock, text, sizeof(text)).address);
}

bool waits_for_something(const struct model *model, const struct pmp_live_thread *thread)
{
	char text[TEXT_SIZE];

	if (thread->lock == SIZE_MAX)
		return false;
	return thread->waits_for_lock || thread->holder_tid ||
	       lock_of(model, thread->lock, text, sizeof(text)).address;
}
