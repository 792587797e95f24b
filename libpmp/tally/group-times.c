/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The group of an entry's threads, and what they do, are determined once per entry. */
#include "tally/group-times.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/syscalls.h"
#include "tally/group.h"

#define GROUPS_MAX 64 /* of a process; all others are one group */
#define OTHERS "other"
#define NONE UINT32_MAX

enum activity { RUN, READY, LOCK, DISK, SLEEP, ACTIVITIES };

struct summed_group {
	struct pmp_group_times times;
	char process[PMP_NAME_SIZE], name[PMP_NAME_SIZE];
	uint32_t number; /* while a process is forgotten: the new index, or NONE */
};

/* The group of an entry; group NONE: not known yet. */
struct entry_group {
	uint32_t group;
	enum activity activity;
	bool named;	/* pmp_group_sums_name() was called */
	uint64_t slept; /* ns counted as sleep before that */
};

struct pmp_group_sums {
	struct summed_group *groups;
	size_t count, capacity;
	struct entry_group *known; /* of each entry */
	size_t known_count, known_capacity;
	size_t all_named; /* no entry below this index is to be named */
};

struct pmp_group_sums *pmp_group_sums_new(void)
{
	return calloc(1, sizeof(struct pmp_group_sums));
}

void pmp_group_sums_free(struct pmp_group_sums *sums)
{
	if (!sums)
		return;
	free(sums->groups);
	free(sums->known);
	free(sums);
}

size_t pmp_group_sums_count(const struct pmp_group_sums *sums)
{
	return sums->count;
}

const struct pmp_group_times *pmp_group_sums_get(const struct pmp_group_sums *sums,
						 size_t i)
{
	struct summed_group *group = &sums->groups[i];

	group->times.process = group->process;
	group->times.group = group->name;
	return &group->times;
}

/* ---- what an entry is ------------------------------------------------------------------ */

static enum activity activity_of(const struct pmp_entry *entry)
{
	const struct pmp_lock *lock = entry->waits ? entry->waits->lock : NULL;

	if (entry->state == 'R')
		return READY;
	if (lock && pmp_lock_is_contended(lock))
		return LOCK;
	return entry->state == 'D' || pmp_syscall_is_of_disk(entry->syscall) ? DISK
									     : SLEEP;
}

static uint32_t find_group(const struct pmp_group_sums *sums, pid_t pid, const char *name,
			   size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < sums->count; i++) {
		if (sums->groups[i].times.pid != pid)
			continue;
		if (strcmp(sums->groups[i].name, name) == 0)
			return (uint32_t)i;
		++*count;
	}
	return NONE;
}

static void copy_name(char *to, const char *from)
{
	size_t length = strnlen(from, PMP_NAME_SIZE - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

/* The index of the group of an entry's threads; NONE: out of memory. */
static uint32_t group_of(struct pmp_group_sums *sums, pid_t pid,
			 const struct pmp_entry *entry)
{
	char name[PMP_NAME_SIZE];
	size_t count;
	uint32_t i;

	pmp_group_fold(entry->end == PMP_END_EVICTED ? OTHERS : entry->thread, name,
		       sizeof(name));
	i = find_group(sums, pid, name, &count);
	if (i == NONE && count >= GROUPS_MAX - 1) {
		copy_name(name, OTHERS);
		i = find_group(sums, pid, name, &count);
	}
	if (i != NONE)
		return i;
	if (PMP_RESERVE(&sums->groups, &sums->capacity, sums->count + 1))
		return NONE;
	sums->groups[sums->count] = (struct summed_group){
		.times = { .size = sizeof(struct pmp_group_times), .pid = pid },
	};
	copy_name(sums->groups[sums->count].process, entry->process);
	copy_name(sums->groups[sums->count].name, name);
	return (uint32_t)sums->count++;
}

static struct entry_group *find_known(struct pmp_group_sums *sums, pid_t pid,
				      const struct pmp_entry *entries, uint32_t i)
{
	struct entry_group *known;

	if (PMP_RESERVE(&sums->known, &sums->known_capacity, (size_t)i + 1))
		return NULL;
	while (sums->known_count <= i)
		sums->known[sums->known_count++].group = NONE;
	known = &sums->known[i];
	if (known->group == NONE) {
		*known = (struct entry_group){ .group = group_of(sums, pid, &entries[i]),
					       .activity = activity_of(&entries[i]) };
		if (i < sums->all_named)
			sums->all_named = i;
	}
	return known->group == NONE ? NULL : known;
}

/* ---- counting --------------------------------------------------------------------------- */

static void add_time(struct pmp_group_times *times, enum activity activity, uint64_t time)
{
	switch (activity) {
	case RUN: times->run += time; return;
	case READY: times->ready += time; return;
	case LOCK: times->lock += time; return;
	case DISK: times->disk += time; return;
	case SLEEP: times->sleep += time; return;
	case ACTIVITIES: return;
	}
}

static void add_times(struct pmp_group_sums *sums, struct entry_group *known,
		      uint64_t wall, uint64_t cpu)
{
	struct pmp_group_times *times = &sums->groups[known->group].times;
	const uint64_t rest = wall > cpu ? wall - cpu : 0;

	add_time(times, RUN, cpu);
	add_time(times, known->activity, rest);
	if (known->activity == SLEEP && !known->named) {
		known->slept += rest;
		times->unsure += rest;
	}
}

int pmp_group_sums_add(struct pmp_group_sums *sums, const struct pmp_entries *entries,
		       pid_t pid, const struct pmp_history_find *finds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pmp_history_find *find = &finds[i];
		struct entry_group *known =
			find_known(sums, pid, entries->all, find->entry);

		if (!known)
			return PMP_ENOMEM;
		add_times(sums, known, find->wall, find->cpu);
	}
	return 0;
}

int pmp_group_sums_add_entries(struct pmp_group_sums *sums,
			       const struct pmp_entries *entries)
{
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct pmp_entry *entry = &entries->all[i];
		struct entry_group *known = find_known(sums, entry->pid, entries->all, i);

		if (!known)
			return PMP_ENOMEM;
		add_times(sums, known, entry->wall, entry->cpu);
	}
	return 0;
}

size_t pmp_group_sums_unnamed(struct pmp_group_sums *sums)
{
	for (; sums->all_named < sums->known_count; sums->all_named++) {
		const struct entry_group *known = &sums->known[sums->all_named];

		if (known->group != NONE && known->activity == SLEEP && !known->named)
			return sums->all_named;
	}
	return SIZE_MAX;
}

void pmp_group_sums_name(struct pmp_group_sums *sums, size_t entry, bool locked)
{
	struct entry_group *known = &sums->known[entry];
	struct pmp_group_times *times = &sums->groups[known->group].times;

	known->named = true;
	times->unsure -= known->slept;
	if (!locked)
		return;
	known->activity = LOCK;
	times->sleep -= known->slept;
	times->lock += known->slept;
	times->moved += known->slept;
}

/* ---- other numbers ---------------------------------------------------------------------- */

/* An entry is gone before its names were looked at: its time stays counted as sleep. */
static void forget_entry(struct pmp_group_sums *sums, const struct entry_group *known)
{
	if (known->group != NONE && known->activity == SLEEP && !known->named)
		sums->groups[known->group].times.unsure -= known->slept;
}

void pmp_group_sums_renumber(struct pmp_group_sums *sums, const bool *stays,
			     const uint32_t *new)
{
	size_t count = 0;

	for (size_t i = 0; i < sums->known_count; i++) {
		if (stays[i])
			count = new[i] + (size_t)1;
		else
			forget_entry(sums, &sums->known[i]);
	}
	/* Entries only move down, so none is overwritten before it is read. */
	for (size_t i = 0, next = 0; i < sums->known_count; i++) {
		if (!stays[i])
			continue;
		while (next < new[i])
			sums->known[next++].group = NONE;
		sums->known[next++] = sums->known[i];
	}
	sums->known_count = count;
	sums->all_named = 0;
}

void pmp_group_sums_forget(struct pmp_group_sums *sums, pid_t pid)
{
	uint32_t left = 0;

	for (size_t i = 0; i < sums->count; i++)
		sums->groups[i].number = sums->groups[i].times.pid == pid ? NONE : left++;
	for (size_t i = 0; i < sums->known_count; i++)
		if (sums->known[i].group != NONE)
			sums->known[i].group = sums->groups[sums->known[i].group].number;
	for (size_t i = 0; i < sums->count; i++)
		if (sums->groups[i].number != NONE)
			sums->groups[sums->groups[i].number] = sums->groups[i];
	sums->count = left;
}
