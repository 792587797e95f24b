/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operators new and delete of C++, in all their forms. Those of libstdc++ call malloc()
 * and free(), which count; an allocator may have its own, of which some or all do not. So
 * each form is tried once, and is counted here only if nothing was counted below it.
 */
#include "heap/recorder-new.h"

#include "heap/recorder-count.h"

#include <stdlib.h>

#define TRIAL_SIZE 16 /* bytes, and their alignment */

/* The arguments after the size or the block, in this order. */
enum {
	SIZED = 1,
	ALIGNED = 2,
	NOTHROW = 4,
};

struct form {
	const char *name;
	unsigned arguments;
	bool counts; /* here, as nothing below it does */
	uintptr_t (*next)(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
};

/* X(number, name, arguments) */
#define NEWS(X) \
	X(0, _Znwm, 0) \
	X(1, _Znam, 0) \
	X(2, _ZnwmRKSt9nothrow_t, NOTHROW) \
	X(3, _ZnamRKSt9nothrow_t, NOTHROW) \
	X(4, _ZnwmSt11align_val_t, ALIGNED) \
	X(5, _ZnamSt11align_val_t, ALIGNED) \
	X(6, _ZnwmSt11align_val_tRKSt9nothrow_t, ALIGNED | NOTHROW) \
	X(7, _ZnamSt11align_val_tRKSt9nothrow_t, ALIGNED | NOTHROW)
#define DELETES(X) \
	X(0, _ZdlPv, 0) \
	X(1, _ZdaPv, 0) \
	X(2, _ZdlPvm, SIZED) \
	X(3, _ZdaPvm, SIZED) \
	X(4, _ZdlPvRKSt9nothrow_t, NOTHROW) \
	X(5, _ZdaPvRKSt9nothrow_t, NOTHROW) \
	X(6, _ZdlPvSt11align_val_t, ALIGNED) \
	X(7, _ZdaPvSt11align_val_t, ALIGNED) \
	X(8, _ZdlPvmSt11align_val_t, SIZED | ALIGNED) \
	X(9, _ZdaPvmSt11align_val_t, SIZED | ALIGNED) \
	X(10, _ZdlPvSt11align_val_tRKSt9nothrow_t, ALIGNED | NOTHROW) \
	X(11, _ZdaPvSt11align_val_tRKSt9nothrow_t, ALIGNED | NOTHROW)

#define ROW(number, function, takes) \
	[number] = { .name = #function, .arguments = (takes) },
static struct form news[] = { NEWS(ROW) };
static struct form deletes[] = { DELETES(ROW) };

/* For a program without C++ that loads some later, but not the C++ library. */
static uintptr_t plain_new(uintptr_t size, uintptr_t b, uintptr_t c, uintptr_t d)
{
	(void)b, (void)c, (void)d;
	return (uintptr_t)malloc(size);
}

static uintptr_t plain_delete(uintptr_t block, uintptr_t b, uintptr_t c, uintptr_t d)
{
	(void)b, (void)c, (void)d;
	free((void *)block);
	return 0;
}

static void find(struct form *form, bool is_new)
{
	void *next_one = lookup_next(form->name);

	if (!next_one)
		next_one = lookup_any(form->name);
	if (!next_one)
		next_one = is_new ? (void *)plain_new : (void *)plain_delete;
	form->next = (uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t))next_one;
}

static inline uintptr_t call_new(struct form *form, uintptr_t a, uintptr_t b, uintptr_t c)
{
	struct pmp_heap_slot *slot;
	uintptr_t block;

	if (UNLIKELY(!form->next))
		find(form, true);
	if (LIKELY(!form->counts))
		return form->next(a, b, c, 0);
	slot = count_slot();
	block = form->next(a, b, c, 0);
	count_alloc(slot, PMP_HEAP_NEW, (void *)block, a);
	return block;
}

static inline void call_delete(struct form *form, uintptr_t a, uintptr_t b, uintptr_t c,
			       uintptr_t d)
{
	if (UNLIKELY(!form->next))
		find(form, false);
	if (UNLIKELY(form->counts) && a)
		count_free(count_slot(), (void *)a);
	form->next(a, b, c, d);
}

#define DEFINE_NEW(number, function, takes) \
	INTERPOSED uintptr_t function(uintptr_t a, uintptr_t b, uintptr_t c); \
	uintptr_t function(uintptr_t a, uintptr_t b, uintptr_t c) \
	{ \
		const uintptr_t block = call_new(&news[number], a, b, c); \
		STAYS_IN_STACK(); \
		return block; \
	}
#define DEFINE_DELETE(number, function, takes) \
	INTERPOSED void function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d); \
	void function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) \
	{ \
		call_delete(&deletes[number], a, b, c, d); \
		STAYS_IN_STACK(); \
	}
NEWS(DEFINE_NEW)
DELETES(DEFINE_DELETE)

void new_describe(void)
{
	if (!lookup_any(news[0].name))
		return; /* a program in C */
	for (size_t i = 0; i < sizeof(news) / sizeof(*news); i++)
		entry_add_code(news[i].name, lookup_any(news[i].name));
	for (size_t i = 0; i < sizeof(deletes) / sizeof(*deletes); i++)
		entry_add_code(deletes[i].name, lookup_any(deletes[i].name));
}

/* ---- the trial ----------------------------------------------------------------------- */

/* Fill in the arguments after the first one. */
static void fill_arguments(const struct form *form, uintptr_t *arguments)
{
	static const char nothrow;
	size_t n = 0;

	if (form->arguments & SIZED)
		arguments[n++] = TRIAL_SIZE;
	if (form->arguments & ALIGNED)
		arguments[n++] = TRIAL_SIZE;
	if (form->arguments & NOTHROW)
		arguments[n] = (uintptr_t)&nothrow;
}

static uintptr_t try_form(struct form *form, bool is_new, uintptr_t first)
{
	uintptr_t arguments[3] = { 0 };

	find(form, is_new);
	fill_arguments(form, arguments);
	return form->next(first, arguments[0], arguments[1], arguments[2]);
}

static uint64_t calls_of(const struct pmp_heap_slot *slot, bool is_new)
{
	uint64_t calls = 0;

	if (!is_new)
		return slot->calls[PMP_HEAP_CALL_FREE];
	for (unsigned i = 0; i < PMP_HEAP_CALL_FREE; i++)
		calls += slot->calls[i];
	return calls;
}

/* The forms for arrays have odd numbers in both tables. They must match, as some allocators
 * abort a program that mixes the forms of new and delete. */
static size_t is_array(const struct form *form, const struct form *forms)
{
	return (size_t)(form - forms) % 2;
}

/* False: one call was counted several times. */
static bool try_delete(struct pmp_heap_slot *slot, struct form *form)
{
	struct form *maker =
		&news[(form->arguments & ALIGNED ? 4 : 0) + is_array(form, deletes)];
	uintptr_t block = try_form(maker, true, TRIAL_SIZE);
	const uint64_t before = calls_of(slot, false);
	uint64_t seen;

	try_form(form, false, block);
	seen = calls_of(slot, false) - before;
	form->counts = seen == 0;
	return seen <= 1;
}

static bool try_new(struct pmp_heap_slot *slot, struct form *form)
{
	struct form *end =
		&deletes[(form->arguments & ALIGNED ? 6 : 0) + is_array(form, news)];
	const uint64_t before = calls_of(slot, true);
	uintptr_t block = try_form(form, true, TRIAL_SIZE);
	const uint64_t seen = calls_of(slot, true) - before;

	form->counts = seen == 0;
	try_form(end, false, block);
	return seen <= 1;
}

void new_try(void)
{
	struct pmp_heap_slot *slot = thread.slot, before;
	bool clear = true;

	if (!slot || !lookup_next(news[0].name))
		return;
	before = *slot;
	recorder.records = false;
	for (size_t i = 0; i < sizeof(news) / sizeof(*news); i++)
		clear = try_new(slot, &news[i]) && clear;
	for (size_t i = 0; i < sizeof(deletes) / sizeof(*deletes); i++)
		clear = try_delete(slot, &deletes[i]) && clear;
	/* Discard what the trial has counted. */
	*slot = before;
	next.operator_new = (void *)news[0].next;
	recorder.process->functions[PMP_HEAP_NEW] = (uintptr_t)news[0].next;
	recorder.records = clear;
	recorder.mixed = !clear;
	if (!clear)
		recorder.process->state = PMP_HEAP_PROCESS_COUNTS;
}
