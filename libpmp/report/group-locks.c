/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out which of the threads that seem to sleep wait for a lock. */
#include <string.h>

#include "libpmp-program.h"
#include "report/filter.h"
#include "report/idle.h"
#include "tally/group-times.h"
#include "tally/profile.h"

/* Only names tell the locks that threads wait for in these calls. For other calls no
 * names are looked up. */
static bool may_be_of_lock(const struct pmp_entry *entry)
{
	static const char *const calls[] = { "", "semop", "semtimedop", "epoll_wait",
					     "epoll_pwait" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(entry->syscall, calls[i]) == 0)
			return true;
	return pmp_idle_is_ambiguous(entry->syscall);
}

#define FUNCTIONS_MAX \
	((size_t)2 * PMP_IDLE_OWN_DEPTH) /* innermost ones that are looked at */

/* The marks of the innermost functions, at most room of them. Returns how many. */
static size_t add_marks(const struct pmp_filter *filter, const struct pmp_frame *frames,
			size_t count, pmp_marks *marks, size_t room)
{
	char name[256];
	size_t i;

	for (i = 0; i < count && i < room; i++)
		marks[i] = pmp_filter_function(filter, frames[i].function,
					       frames[i].readable, frames[i].module, name,
					       sizeof(name));
	return i;
}

static bool has_failed(const pmp_marks *marks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pmp_filter_has_failed(marks[i]))
			return true;
	return false;
}

/* 0 or PMP_ENOMEM. */
static int ask(struct pmp_symbolizer *symbolizer, const struct pmp_filter *filter,
	       const struct pmp_entry *entry, bool *locked)
{
	const struct pmp_frame *frames;
	pmp_marks marks[FUNCTIONS_MAX], stack;
	size_t count = 0, most = FUNCTIONS_MAX;

	*locked = false;
	if (!may_be_of_lock(entry))
		return 0;
	for (size_t i = 0; i < entry->location_count && count < most; i++) {
		size_t found =
			pmp_symbolizer_frames(symbolizer, entry->locations[i], &frames);

		count += add_marks(filter, frames, found, marks + count, most - count);
	}
	if (has_failed(marks, count))
		return PMP_ENOMEM;
	stack = pmp_filter_stack_marks(marks, count);
	*locked = pmp_filter_waits_for_lock(stack, entry->syscall);
	return 0;
}

/* Name one location. The symbolizer may release the lock meanwhile, so the entry may have
 * moved afterwards. False: all locations have names. */
static bool name_next(struct pmp_symbolizer *symbolizer, const struct pmp_entry *entry)
{
	for (size_t i = 0; i < entry->location_count && i < FUNCTIONS_MAX; i++) {
		if (pmp_symbolizer_has_names(symbolizer, entry->locations[i]))
			continue;
		pmp_symbolizer_name(symbolizer, entry->locations[i]);
		return true;
	}
	return false;
}

int pmp_profile_name_locks(struct pmp_profile *profile, const struct pmp_filter *filter)
{
	struct pmp_symbolizer *symbolizer = pmp_profile_symbolizer(profile);
	struct pmp_group_sums *sums = pmp_profile_groups(profile);
	bool locked;
	size_t i;

	while (sums && (i = pmp_group_sums_unnamed(sums)) != SIZE_MAX) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);

		if (may_be_of_lock(entry) && name_next(symbolizer, entry))
			continue;
		if (ask(symbolizer, filter, entry, &locked))
			return PMP_ENOMEM;
		pmp_group_sums_name(sums, i, locked);
	}
	return 0;
}

bool pmp_profile_has_unnamed_locks(struct pmp_profile *profile)
{
	struct pmp_group_sums *sums = pmp_profile_groups(profile);

	return sums && pmp_group_sums_unnamed(sums) != SIZE_MAX;
}
