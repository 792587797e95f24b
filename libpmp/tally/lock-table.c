/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings are interned, so that equal locks have equal bytes. */
#include "tally/lock-table.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

struct pmp_locks {
	struct pmp_intern *names;
	struct pmp_intern *keys; /* struct pmp_lock; ids are the numbers of locks */
};

_Static_assert(sizeof(struct pmp_lock) ==
		       16 + 2 * sizeof(char *) + sizeof(struct pmp_located_object) + 4,
	       "a lock has no padding");

struct pmp_locks *pmp_locks_new(void)
{
	struct pmp_locks *locks = calloc(1, sizeof(*locks));

	if (!locks)
		return NULL;
	locks->names = pmp_intern_new();
	locks->keys = pmp_intern_new();
	if (locks->names && locks->keys)
		return locks;
	pmp_locks_free(locks);
	return NULL;
}

void pmp_locks_free(struct pmp_locks *locks)
{
	if (!locks)
		return;
	pmp_intern_free(locks->names);
	pmp_intern_free(locks->keys);
	free(locks);
}

/* NULL: out of memory or, unless add, it is not there. */
static const char *find_name(struct pmp_locks *locks, const char *name, bool add)
{
	uint32_t id = add ? pmp_intern(locks->names, name, strlen(name))
			  : pmp_intern_find(locks->names, name, strlen(name));

	return id == PMP_INTERN_NONE ? NULL : pmp_intern_data(locks->names, id, NULL);
}

/* Make the lock its own key. False: as above. */
static bool make_key(struct pmp_locks *locks, struct pmp_lock *lock, bool add)
{
	lock->unused = 0;
	lock->holder_name = find_name(locks, lock->holder_name, add);
	lock->text = find_name(locks, lock->text, add);
	return lock->holder_name && lock->text;
}

uint32_t pmp_locks_add(struct pmp_locks *locks, const struct pmp_lock *lock)
{
	struct pmp_lock own = *lock;

	if (pmp_locks_count(locks) >= PMP_LOCKS_MAX) {
		uint32_t number = PMP_LOCK_NONE;

		if (make_key(locks, &own, false))
			number = pmp_intern_find(locks->keys, &own, sizeof(own));
		if (number != PMP_LOCK_NONE)
			return number;
		own = pmp_lock_of_kind(lock);
	}
	if (!make_key(locks, &own, true))
		return PMP_LOCK_NONE;
	return pmp_intern(locks->keys, &own, sizeof(own));
}

const struct pmp_lock *pmp_locks_get(const struct pmp_locks *locks, uint32_t number)
{
	return pmp_intern_data(locks->keys, number, NULL);
}

size_t pmp_locks_count(const struct pmp_locks *locks)
{
	return pmp_intern_count(locks->keys);
}

uint64_t pmp_locks_size(const struct pmp_locks *locks)
{
	return pmp_intern_size(locks->names) + pmp_intern_size(locks->keys);
}

struct pmp_lock pmp_lock_of_kind(const struct pmp_lock *lock)
{
	return (struct pmp_lock){
		.kind = lock->kind,
		.holder_is = lock->holder_is,
		.holder_stack = lock->holder_stack,
		.holder_name = "",
		.text = "",
		.object = { .location = PMP_LOCATION_NONE },
	};
}

bool pmp_lock_is_contended(const struct pmp_lock *lock)
{
	const struct pmp_wait wait = { .kind = lock->kind };

	return lock->kind != PMP_WAIT_JOIN && (*lock->text || pmp_wait_is_lock(&wait));
}

/* ---- holders ----------------------------------------------------------------------- */

static const char *const marks[PMP_HOLDER_COUNT] = {
	[PMP_HOLDER_NONE] = "[holder unknown]",
	[PMP_HOLDER_FREE] = "[no holder]",
	[PMP_HOLDER_SELF] = "[itself]",
	[PMP_HOLDER_PROCESS] = "[another process]",
	[PMP_HOLDER_BEFORE_FORK] = "[locked before a fork]",
	[PMP_HOLDER_ENDED] = "[ended thread]",
	[PMP_HOLDER_UNCHECKED] = "[holder unknown]",
};

const char *pmp_lock_holder_mark(enum pmp_holder_is holder_is)
{
	return holder_is < PMP_HOLDER_COUNT ? marks[holder_is] : marks[PMP_HOLDER_NONE];
}

void pmp_lock_set_holder(struct pmp_lock *lock, const char *text)
{
	lock->holder_name = "";
	for (unsigned i = 0; i < PMP_HOLDER_COUNT; i++) {
		if (!marks[i] || strcmp(marks[i], text) != 0)
			continue;
		lock->holder_is = (uint8_t)i;
		return;
	}
	lock->holder_is = PMP_HOLDER_THREAD;
	lock->holder_name = text;
}
