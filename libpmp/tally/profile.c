/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting samples. Input: samples (addresses), and a symbolizer that turns each
 * address into a location, a small number. Output: profiles, for the writers.
 * The stacks and their counts are in stack-table.c.
 */
#include "tally/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/syscalls.h"
#include "tally/cpu-time.h"
#include "tally/evict.h"
#include "tally/group-times.h"
#include "tally/histogram.h"
#include "tally/history.h"
#include "tally/live.h"
#include "tally/sample-locks.h"
#include "tally/snapshot.h"
#include "tally/stack-table.h"
#include "tally/thread-cache.h"

/* When two thirds of max_memory are in use, half of all stacks are evicted; the other third
 * is needed to rebuild the tables. This is repeated until a quarter of the two thirds is
 * free, or until it no longer helps. */
#define TRIGGER(memory) ((memory) / 3 * 2)
#define ENOUGH(trigger) ((trigger) / 4 * 3)
#define HELPED(before, now) ((now) < (before) / 8 * 7)
#define BLOCKS(memory) ((memory) / 4) /* for live blocks of heaps */

/* A thread of the current sample. */
struct known_thread {
	uint32_t entry; /* PMP_ENTRY_NONE: not known */
	bool waits_on;	/* still in the same wait */
	uint64_t wall;	/* since its last sample */
};

struct pmp_profile {
	struct pmp_profile_options options;
	char *command, *host; /* options point to them */
	char *type, *unit;    /* of metadata.sample_type */
	struct pmp_symbolizer *symbolizer;
	bool attached; /* to the symbolizer */
	struct pmp_entries entries;
	pmp_location *locations; /* of the frames of the current sample */
	size_t location_capacity;
	struct known_thread *known; /* the threads of the current sample */
	size_t known_capacity;
	struct pmp_history_find *finds; /* the same for the history, if there is one */
	size_t find_capacity;
	struct pmp_sample_locks locks; /* that these threads wait for */
	struct pmp_thread_cache *cache;
	struct pmp_profile_info info;
	struct pmp_profile_info joined; /* of other runs: values that are not sums */
	struct pmp_metadata metadata;
	struct pmp_cpu_time *times;
	struct pmp_timeline *timeline; /* of options.times, or NULL */
	struct pmp_histogram stops;
	struct pmp_snapshots snapshots;
	struct pmp_live *live;	       /* of options.live */
	struct pmp_history *history;   /* of options.history */
	struct pmp_group_sums *groups; /* likewise; in a window: if wanted */
	struct pmp_heap *heap;	       /* of options.heap */
	uint64_t trigger;	       /* bytes in use at which stacks are evicted */
	uint64_t sweeps;	       /* number of calls of sweep() */
	uint64_t round_start;	       /* time of the first sample in this round */
};

/* ---- a profile ------------------------------------------------------------ */

/* Filters may use details that formats do not show. */
static bool counts_details(const struct pmp_profile *profile)
{
	return profile->options.details || profile->options.for_filter;
}

/* NULL: out of memory. */
static struct pmp_heap *new_heap(const struct pmp_profile *profile)
{
	struct pmp_heap *heap =
		pmp_heap_new(profile->options.by_thread, counts_details(profile),
			     BLOCKS(profile->options.max_memory));

	if (heap && profile->options.live && pmp_heap_keep_past(heap)) {
		pmp_heap_free(heap);
		return NULL;
	}
	return heap;
}

int pmp_profile_new(const struct pmp_profile_options *options,
		    struct pmp_symbolizer *symbolizer, struct pmp_profile **profile,
		    struct pmp_error *err)
{
	struct pmp_profile *new = calloc(1, sizeof(*new));

	*profile = NULL;
	if (!new)
		return pmp_error_nomem(err, "making a profile");
	pmp_sized_take(&new->options, sizeof(new->options), options);
	new->symbolizer = symbolizer;
	new->trigger =
		new->options.max_memory ? TRIGGER(new->options.max_memory) : UINT64_MAX;
	new->cache = pmp_thread_cache_new(new->options.waits);
	new->command = strdup(new->options.command ? new->options.command : "");
	new->host = strdup(new->options.host ? new->options.host : "");
	new->type = strdup("");
	new->unit = strdup("");
	if (new->options.times)
		new->timeline = pmp_timeline_new();
	if (new->options.live)
		new->live = pmp_live_new();
	if (new->options.history) {
		new->history = pmp_history_new(new->options.history,
					       new->options.history_time, true);
		new->groups = pmp_group_sums_new();
	}
	if (new->options.heap)
		new->heap = new_heap(new);
	new->times = pmp_cpu_time_new(new->options.by_thread || counts_details(new));
	if (!pmp_entries_init(&new->entries, new->options.by_thread, counts_details(new),
			      new->options.waits) ||
	    !new->times || !new->cache || (new->options.times && !new->timeline) ||
	    (new->options.live && !new->live) || (new->options.heap && !new->heap) ||
	    (new->options.history && (!new->history || !new->groups)) || !new->command ||
	    !new->host || !new->type || !new->unit) {
		pmp_profile_free(new);
		return pmp_error_nomem(err, "making a profile");
	}
	if (new->options.command)
		new->options.command = new->command;
	if (new->options.host)
		new->options.host = new->host;
	new->metadata.period = new->options.period;
	pmp_symbolizer_attach(symbolizer);
	new->attached = true;
	*profile = new;
	return 0;
}

void pmp_profile_free(struct pmp_profile *profile)
{
	if (!profile)
		return;
	if (profile->attached)
		pmp_symbolizer_detach(profile->symbolizer);
	pmp_live_free(profile->live);
	pmp_history_free(profile->history);
	pmp_group_sums_free(profile->groups);
	pmp_heap_free(profile->heap);
	pmp_snapshots_free(&profile->snapshots);
	free(profile->locations);
	pmp_entries_free(&profile->entries);
	pmp_cpu_time_free(profile->times);
	pmp_thread_cache_free(profile->cache);
	free(profile->known);
	free(profile->finds);
	pmp_sample_locks_free(&profile->locks);
	pmp_timeline_free(profile->timeline);
	free(profile->command);
	free(profile->host);
	free(profile->type);
	free(profile->unit);
	free(profile);
}

/* ---- counting ------------------------------------------------------------- */

static bool thread_fits(const struct pmp_sample *sample, const struct pmp_thread *thread)
{
	return thread->frame <= sample->frame_count &&
	       thread->frame_count <= sample->frame_count - thread->frame;
}

/* A sample may have come through a socket, so its indices are checked before use. */
static bool sample_fits(const struct pmp_profile *profile,
			const struct pmp_sample *sample)
{
	if (pmp_thread_cache_is_still(profile->cache, sample))
		return true;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (!thread_fits(sample, &sample->threads[i]))
			return false;
	return true;
}

static int locate_thread(struct pmp_profile *profile, const struct pmp_sample *sample,
			 const struct pmp_thread *thread)
{
	for (size_t i = thread->frame; i < thread->frame + thread->frame_count; i++) {
		pmp_location location = pmp_symbolizer_locate(
			profile->symbolizer, sample->maps, &sample->frames[i]);

		if (location == PMP_LOCATION_NONE)
			return PMP_ENOMEM;
		profile->locations[i] = location;
	}
	return 0;
}

/* Are the locations of the current sample read for more than making new entries? */
static bool shows_locations(const struct pmp_profile *profile)
{
	return profile->options.keep_snapshot || profile->live;
}

/* Find the entry of a thread that has not run since it was counted there; copy the entry's
 * locations if they will be read. */
static bool find_known(struct pmp_profile *profile, const struct pmp_thread *thread,
		       struct known_thread *known)
{
	const struct pmp_entry *entry;
	bool found = pmp_thread_cache_find(profile->cache, thread, &known->entry);

	known->waits_on = profile->options.waits &&
			  pmp_thread_cache_is_waiting(profile->cache, thread);
	entry = found ? &profile->entries.all[known->entry] : NULL;
	if (!entry || entry->location_count != thread->frame_count) {
		known->entry = PMP_ENTRY_NONE;
		return false;
	}
	if (thread->frame_count && shows_locations(profile))
		memcpy(profile->locations + thread->frame, entry->locations,
		       thread->frame_count * sizeof(*entry->locations));
	return true;
}

/* Find the entries of threads that have not run, and the locations of all other frames. */
static int locate_frames(struct pmp_profile *profile, const struct pmp_sample *sample)
{
	/* One more than needed, so that it is not NULL even without frames. */
	if (PMP_RESERVE(&profile->locations, &profile->location_capacity,
			sample->frame_count + 1) ||
	    PMP_RESERVE(&profile->known, &profile->known_capacity,
			sample->thread_count) ||
	    pmp_thread_cache_begin(profile->cache, sample))
		return PMP_ENOMEM;
	for (size_t i = 0; i < sample->thread_count; i++) {
		if (!find_known(profile, &sample->threads[i], &profile->known[i]) &&
		    locate_thread(profile, sample, &sample->threads[i]))
			return PMP_ENOMEM;
	}
	return 0;
}

/* ---- bounded memory -------------------------------------------------------- */

static uint64_t memory_of(const struct pmp_profile *profile)
{
	return pmp_entries_size(&profile->entries) + pmp_cpu_time_size(profile->times) +
	       pmp_thread_cache_size(profile->cache) +
	       (profile->live ? pmp_live_size(profile->live) : 0) +
	       (profile->heap ? pmp_heap_size(profile->heap) : 0) +
	       pmp_symbolizer_size(profile->symbolizer);
}

/* Count the old entries in new, which is empty: those that stay as they are, the others as
 * evicted. numbers[i] becomes the index of entry i in new. */
static int count_again(struct pmp_entries *new, const struct pmp_entries *old,
		       const bool *stays, uint32_t *numbers)
{
	bool by_name = pmp_evict_is_crowded(old->all, old->count);

	for (size_t i = 0; i < old->count; i++) {
		struct pmp_entry entry = old->all[i];
		struct pmp_entry_waits waits;
		struct pmp_lock lock;

		entry.cpu = entry.settled_cpu;
		if (!stays[i] || pmp_evict_is_sum(&entry))
			entry = pmp_evict_sum(&entry, by_name);
		if (entry.waits && entry.end == PMP_END_EVICTED)
			pmp_evict_sum_waits(&entry, &waits, &lock);
		/* An entry that had only CPU time may have none after settling. */
		if (!entry.count && !entry.cpu)
			continue;
		numbers[i] = pmp_entries_count(new, &entry);
		if (numbers[i] == PMP_ENTRY_NONE)
			return PMP_ENOMEM;
	}
	return 0;
}

static void count_evicted(struct pmp_profile *profile, const bool *stays)
{
	for (size_t i = 0; i < profile->entries.count; i++) {
		if (stays[i])
			continue;
		profile->info.evicted += profile->entries.all[i].count;
		profile->info.evicted_distinct += profile->entries.all[i].count > 0;
	}
}

/* Clear stays[] for entries without a counterpart in the new table: those that stand for
 * evicted ones have been merged, empty ones left out. */
static void leave_out_sums(const struct pmp_entries *old, bool *stays)
{
	for (size_t i = 0; i < old->count; i++)
		if (pmp_evict_is_sum(&old->all[i]) ||
		    (!old->all[i].count && !old->all[i].settled_cpu))
			stays[i] = false;
}

/* Windows show what is in the history, so entries in it are kept rather than older ones. */
static int choose(const struct pmp_profile *profile, bool *stays)
{
	const struct pmp_entries *entries = &profile->entries;
	uint64_t *recent = NULL;
	int code;

	if (profile->history) {
		recent = calloc(entries->count + 1, sizeof(*recent));
		if (!recent)
			return PMP_ENOMEM;
		pmp_history_count(profile->history, recent);
	}
	code = pmp_evict_choose(entries->all, entries->count, recent, stays);
	free(recent);
	return code;
}

/* Rebuild the entries without those with the lowest counts. On failure nothing changes. */
static int evict(struct pmp_profile *profile)
{
	struct pmp_entries *old = &profile->entries, new = { 0 };
	bool *stays = NULL;
	uint32_t *numbers = NULL;
	int code = PMP_ENOMEM;

	/* This may add entries, so it comes first. */
	if (!pmp_cpu_time_settle(profile->times, old)) {
		stays = calloc(old->count + 1, sizeof(*stays));
		numbers = calloc(old->count + 1, sizeof(*numbers));
	}
	if (stays && numbers &&
	    pmp_entries_init(&new, old->by_thread, old->details, old->locks) &&
	    !choose(profile, stays))
		code = count_again(&new, old, stays, numbers);
	if (code) {
		pmp_entries_free(&new);
	} else {
		count_evicted(profile, stays);
		leave_out_sums(old, stays);
		pmp_entries_free(old);
		*old = new;
		pmp_thread_cache_renumber(profile->cache, numbers);
		pmp_cpu_time_renumber(profile->times, numbers);
		if (profile->timeline)
			pmp_timeline_renumber(profile->timeline, numbers);
		if (profile->history)
			pmp_history_renumber(profile->history, numbers);
		if (profile->groups)
			pmp_group_sums_renumber(profile->groups, stays, numbers);
	}
	free(stays);
	free(numbers);
	return code;
}

static void mark_entry(const struct pmp_entry *entry, bool *used)
{
	const struct pmp_lock *lock = entry->waits ? entry->waits->lock : NULL;

	for (size_t k = 0; k < entry->location_count; k++)
		used[entry->locations[k]] = true;
	if (lock && lock->object.location != PMP_LOCATION_NONE)
		used[lock->object.location] = true;
}

/* Give back locations that are in no stack any more. */
static void sweep(struct pmp_profile *profile)
{
	bool *used = calloc(pmp_symbolizer_location_count(profile->symbolizer) + 1,
			    sizeof(*used));

	if (!used)
		return;
	for (size_t i = 0; i < profile->entries.count; i++)
		mark_entry(&profile->entries.all[i], used);
	pmp_snapshots_mark(&profile->snapshots, used);
	if (profile->live)
		pmp_live_mark(profile->live, used);
	if (profile->heap)
		pmp_heap_mark(profile->heap, used);
	if (pmp_symbolizer_gc(profile->symbolizer, used) && profile->live)
		pmp_live_renumbered(profile->live);
	profile->sweeps++;
	free(used);
}

/* swept: also sweep locations, as only the profile and its view hold their numbers now. */
static int keep_bounded(struct pmp_profile *profile, bool swept)
{
	uint64_t memory = memory_of(profile), before;

	if (memory < profile->trigger)
		return 0;
	do {
		before = memory;
		if (evict(profile) || (profile->live && pmp_live_shrink(profile->live)) ||
		    (profile->heap && pmp_heap_shrink(profile->heap)))
			return PMP_ENOMEM;
		if (swept)
			sweep(profile);
		memory = memory_of(profile);
	} while (memory > ENOUGH(TRIGGER(profile->options.max_memory)) &&
		 HELPED(before, memory));
	/* If it did not help, do not try again with each sample. */
	profile->trigger = TRIGGER(profile->options.max_memory);
	if (profile->trigger < memory + memory / 4)
		profile->trigger = memory + memory / 4;
	return 0;
}

uint32_t pmp_profile_count_entry(struct pmp_profile *profile,
				 const struct pmp_entry *entry)
{
	return pmp_entries_count(&profile->entries, entry);
}

int pmp_profile_count(struct pmp_profile *profile, const struct pmp_entry *entry)
{
	if (keep_bounded(profile, false))
		return PMP_ENOMEM;
	if (profile->live && pmp_live_count(profile->live, entry))
		return PMP_ENOMEM;
	return pmp_profile_count_entry(profile, entry) == PMP_ENTRY_NONE ? PMP_ENOMEM : 0;
}

/* Count a thread that is new, has run since its last sample, or is in another wait. Returns
 * its entry; PMP_ENTRY_NONE: out of memory. */
static uint32_t count_new(struct pmp_profile *profile, const struct pmp_sample *sample,
			  size_t i, const struct pmp_entry_find *find)
{
	char process[PMP_NAME_SIZE], number[16];
	const struct pmp_thread *thread = &sample->threads[i];
	struct pmp_thread ended = *thread;
	struct pmp_lock lock;
	const struct pmp_entry entry = {
		.pid = sample->pid,
		.process = process,
		.tid = thread->tid,
		.thread = ended.name,
		.state = thread->state,
		.syscall = pmp_syscall_text(thread->syscall, number, sizeof(number)),
		.wchan = ended.wchan,
		.end = thread->end,
		.reason = ended.reason,
		.locations = profile->locations + thread->frame,
		.location_count = thread->frame_count,
		.count = 1,
		.running = find->running,
		.wall = find->wall,
		.waits = find->waits,
	};

	if (entry.waits && pmp_sample_locks_get(&profile->locks, i, &lock))
		entry.waits->lock = &lock;
	pmp_thread_terminate(&ended);
	memcpy(process, sample->name, sizeof(process));
	process[sizeof(process) - 1] = '\0';
	return pmp_entries_count(&profile->entries, &entry);
}

static enum pmp_change_weight weight_of(uint64_t running)
{
	if (running <= 1)
		return running ? PMP_WEIGHT_READY : PMP_WEIGHT_NONE;
	return PMP_WEIGHT_PROCESSOR;
}

static int count_thread(struct pmp_profile *profile, const struct pmp_sample *sample,
			size_t i)
{
	const struct pmp_thread *thread = &sample->threads[i];
	struct known_thread *known = &profile->known[i];
	const bool begins = thread->wait.kind && !known->waits_on;
	struct pmp_entry_waits waits;
	struct pmp_entry_find find = {
		.state = thread->state,
		.running = pmp_cpu_time_weight(thread),
	};
	uint32_t id = known->entry;
	uint64_t cpu;

	if (profile->options.waits) {
		waits = (struct pmp_entry_waits){ .contentions = begins };
		find.waits = &waits;
	}
	if (pmp_cpu_time_take(profile->times, thread, &find.wall, &cpu))
		return PMP_ENOMEM;
	if (id != PMP_ENTRY_NONE)
		pmp_entry_add_find(&profile->entries.all[id], &find);
	else
		id = count_new(profile, sample, i, &find);
	if (id == PMP_ENTRY_NONE)
		return PMP_ENOMEM;
	known->entry = id;
	known->wall = find.wall;
	if (profile->history)
		profile->finds[i] = (struct pmp_history_find){
			.entry = id,
			.weight = weight_of(find.running),
			.begins = begins,
			.wall = find.wall,
			.cpu = cpu,
			.root = PMP_NO_ROOT,
		};
	pmp_cpu_time_found(profile->times, id);
	pmp_thread_cache_put(profile->cache, thread, id);
	if (!profile->timeline)
		return 0;
	return pmp_timeline_add(profile->timeline, thread->tid, id);
}

/* Charge the time of waiting threads to the threads that they wait for. */
static void charge_holders(struct pmp_profile *profile, const struct pmp_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct known_thread *known = &profile->known[i];
		const struct pmp_lock *lock =
			profile->entries.all[known->entry].waits->lock;
		struct pmp_entry_waits *held;
		size_t root;

		if (!lock || !pmp_lock_is_contended(lock))
			continue;
		root = pmp_sample_locks_root(&profile->locks, i);
		if (root == PMP_NO_HOLDER)
			continue;
		if (profile->history)
			profile->finds[i].root = root;
		held = profile->entries.all[profile->known[root].entry].waits;
		held->held_contentions =
			pmp_count_sum(held->held_contentions, !known->waits_on);
		held->held_delay = pmp_count_sum(held->held_delay, known->wall);
	}
}

static void count_loss(struct pmp_profile *profile, const struct pmp_thread *thread)
{
	struct pmp_profile_info *info = &profile->info;

	info->stacks++;
	info->peeked += thread->obtained == PMP_PEEKED;
	info->unchanged += thread->obtained == PMP_UNCHANGED;
	if (thread->obtained == PMP_NOT_STOPPED || thread->end == PMP_END_NOT_STOPPED)
		info->not_stopped++;
	else if (thread->end != PMP_END_ROOT)
		info->truncated++;
	if (thread->obtained != PMP_STOPPED && !thread->stopped)
		return;
	info->stops++;
	info->stopped += thread->stopped;
	pmp_histogram_add(&profile->stops, thread->stopped);
}

static void count_losses(struct pmp_profile *profile, const struct pmp_sample *sample)
{
	if (!sample->standstill.number) {
		for (size_t i = 0; i < sample->thread_count; i++)
			count_loss(profile, &sample->threads[i]);
		return;
	}
	profile->info.stacks += sample->thread_count;
	profile->info.unchanged += sample->thread_count;
	profile->info.truncated += sample->standstill.truncated;
}

static int begin_history(struct pmp_profile *profile, const struct pmp_sample *sample)
{
	if (PMP_RESERVE(&profile->finds, &profile->find_capacity, sample->thread_count))
		return PMP_ENOMEM;
	if (pmp_history_begin(profile->history, sample))
		return PMP_ENOMEM;
	pmp_history_drop(profile->history,
			 pmp_history_kept(profile->history, sample->time));
	return 0;
}

/* Take over a text if there is none yet. */
static int learn(char **text, const char *from)
{
	char *copy;

	if (**text || !from || !*from)
		return 0;
	copy = strdup(from);
	if (!copy)
		return PMP_ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

/* The fast path if all threads are where they were in the last sample, none has used CPU
 * time, and nothing but their entries keeps a record of that. False: count the threads one
 * by one. */
static bool count_at_once(struct pmp_profile *profile, const struct pmp_sample *sample)
{
	const struct pmp_counted *counted;
	size_t count = 0;
	uint64_t wall;

	if (profile->options.waits || profile->timeline || profile->history ||
	    shows_locations(profile) ||
	    !pmp_thread_cache_is_still(profile->cache, sample))
		return false;
	counted = pmp_thread_cache_counted(profile->cache, sample->pid, &count);
	/* A stack that was evicted since becomes an entry of its own again. */
	for (size_t i = 0; counted && i < count; i++)
		if (pmp_evict_is_sum(&profile->entries.all[counted[i].entry]))
			return false;
	if (!counted || !pmp_cpu_time_pass(profile->times, sample, &wall))
		return false;
	for (size_t i = 0; i < count; i++)
		pmp_entry_add_still(&profile->entries.all[counted[i].entry],
				    counted[i].threads, wall);
	return true;
}

/* Count the threads of a sample one by one. 0 or PMP_ENOMEM. */
static int count_threads(struct pmp_profile *profile, const struct pmp_sample *sample)
{
	if (locate_frames(profile, sample) ||
	    (profile->options.keep_snapshot &&
	     pmp_snapshots_keep(&profile->snapshots, sample, profile->locations,
				profile->symbolizer)) ||
	    (profile->options.waits &&
	     pmp_sample_locks_start(&profile->locks, sample, profile->symbolizer,
				    counts_details(profile))) ||
	    pmp_cpu_time_begin(profile->times, &profile->entries, sample) ||
	    (profile->timeline &&
	     pmp_timeline_begin(profile->timeline, sample->pid, sample->time)) ||
	    (profile->history && begin_history(profile, sample)) ||
	    (profile->live && pmp_live_add(profile->live, sample, profile->locations,
					   profile->symbolizer)))
		return PMP_ENOMEM;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (count_thread(profile, sample, i))
			return PMP_ENOMEM;
	if (profile->options.waits)
		charge_holders(profile, sample);
	if (!profile->history)
		return 0;
	if (pmp_group_sums_add(profile->groups, &profile->entries, sample->pid,
			       profile->finds, sample->thread_count))
		return PMP_ENOMEM;
	pmp_history_add(profile->history, sample, profile->finds);
	return 0;
}

void pmp_profile_count_round(struct pmp_profile_info *info, uint64_t *start,
			     uint64_t before, uint64_t time)
{
	if (info->rounds && (!before || before < *start))
		return;
	info->rounds++;
	*start = time;
}

/* ---- the interface -------------------------------------------------------- */

int pmp_profile_add(struct pmp_profile *profile, const struct pmp_sample *sample,
		    struct pmp_error *err)
{
	struct pmp_profile_info *info = &profile->info;

	if (!sample_fits(profile, sample))
		return pmp_error_set(err, PMP_EINVAL,
				     "sample of process %d contradicts itself",
				     (int)sample->pid);
	if (keep_bounded(profile, true) ||
	    (sample->crash.is && learn(&profile->command, sample->crash.args)) ||
	    (!count_at_once(profile, sample) && count_threads(profile, sample)))
		return pmp_error_nomem(err, "counting a sample");
	count_losses(profile, sample);
	pmp_profile_count_round(info, &profile->round_start,
				pmp_cpu_time_before(profile->times), sample->time);
	if (!info->samples++) {
		info->first_time = sample->time;
		profile->metadata.realtime = sample->realtime;
	}
	info->last_time = sample->time;
	info->vanished += sample->vanished;
	info->any_stopped += sample->any_stopped;
	return 0;
}

int pmp_profile_add_heap(struct pmp_profile *profile, const struct pmp_heap_batch *batch,
			 struct pmp_error *err)
{
	int code;

	if (!profile->heap)
		return 0;
	code = keep_bounded(profile, true);
	if (!code)
		code = pmp_heap_add(profile->heap, batch, profile->symbolizer);
	if (code == PMP_EINVAL)
		return pmp_error_set(err, code, "sample of process %d contradicts itself",
				     (int)batch->pid);
	return code ? pmp_error_nomem(err, "counting a heap batch") : 0;
}

void pmp_profile_take_heap(struct pmp_profile *profile, struct pmp_profile *from)
{
	struct pmp_heap *heap = profile->heap;

	profile->heap = from->heap;
	from->heap = heap;
}

int pmp_profile_heap_base(struct pmp_profile *profile, uint64_t now, uint64_t age,
			  struct pmp_heap_base **base, struct pmp_error *err)
{
	*base = NULL;
	if (profile->heap && pmp_heap_take_base(profile->heap, now, age, base))
		return pmp_error_nomem(err, "keeping what a heap holds");
	return 0;
}

bool pmp_profile_heap_process(const struct pmp_profile *profile, size_t i,
			      struct pmp_heap_info *info)
{
	const struct pmp_process_heap *process;
	const struct pmp_heap_totals *totals;
	size_t count = 0;

	if (!profile->heap)
		return false;
	process = pmp_heap_processes(profile->heap, &count);
	if (i >= count)
		return false;
	process += i;
	totals = &process->totals;
	pmp_sized_give(
		info,
		&(struct pmp_heap_info){
			.pid = process->pid,
			.name = process->name,
			.ended = process->ended,
			.allocated = process->earlier_allocated + totals->allocated,
			.freed = process->earlier_freed + totals->freed,
			.live = totals->live,
			.live_blocks = totals->live_blocks,
			.peak = totals->peak,
			.calls = pmp_process_heap_calls(process),
			.frees = process->earlier_frees + totals->frees,
			.failed = totals->failed + totals->failed_reallocs,
		},
		sizeof(*info));
	return true;
}

struct pmp_heap *pmp_profile_heap(const struct pmp_profile *profile)
{
	return profile->heap;
}

void pmp_profile_interrupt(struct pmp_profile *profile, pid_t pid)
{
	pmp_thread_cache_forget(profile->cache, pid);
	pmp_cpu_time_forget(profile->times, pid);
	pmp_snapshots_forget(&profile->snapshots, pid);
	if (profile->live)
		pmp_live_forget(profile->live, pid);
	if (profile->history)
		pmp_history_forget(profile->history, pid);
	if (profile->groups)
		pmp_group_sums_forget(profile->groups, pid);
}

void pmp_profile_forget(struct pmp_profile *profile, pid_t pid)
{
	if (profile->heap)
		pmp_heap_forget(profile->heap, pid);
	pmp_profile_interrupt(profile, pid);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void pmp_profile_info(const struct pmp_profile *profile, struct pmp_profile_info *info)
{
	struct pmp_profile_info all = profile->info;
	size_t recorded = 0;

	all.distinct = profile->entries.count - profile->entries.between_count;
	if (profile->heap) {
		all.heap_lost = pmp_heap_lost(profile->heap);
		all.heap_stackless = pmp_heap_stackless(profile->heap);
		all.heap_unrecorded = pmp_heap_unrecorded(profile->heap);
		all.heap_distinct = pmp_heap_entries(profile->heap)->count;
		pmp_heap_processes(profile->heap, &recorded);
		all.heap_processes = recorded;
	}
	all.stopped_max = larger(profile->stops.largest, profile->joined.stopped_max);
	all.stopped_p50 = larger(pmp_histogram_percentile(&profile->stops, 50),
				 profile->joined.stopped_p50);
	all.stopped_p99 = larger(pmp_histogram_percentile(&profile->stops, 99),
				 profile->joined.stopped_p99);
	pmp_sized_give(info, &all, sizeof(all));
}

uint64_t pmp_profile_stops_within(const struct pmp_profile *profile, uint64_t time)
{
	return pmp_histogram_within(&profile->stops, time);
}

const struct pmp_live *pmp_profile_live(const struct pmp_profile *profile)
{
	return profile->live;
}

size_t pmp_profile_entry_count(const struct pmp_profile *profile)
{
	return profile->entries.count;
}

const struct pmp_entry *pmp_profile_entry(const struct pmp_profile *profile, size_t i)
{
	return i < profile->entries.count ? &profile->entries.all[i] : NULL;
}

int pmp_profile_divide_cpu(struct pmp_profile *profile)
{
	return pmp_cpu_time_divide(profile->times, &profile->entries) ? PMP_ENOMEM : 0;
}

const struct pmp_snapshot *pmp_profile_snapshot(const struct pmp_profile *profile,
						pid_t pid)
{
	return pmp_snapshots_get(&profile->snapshots, pid);
}

const struct pmp_run *pmp_profile_runs(const struct pmp_profile *profile, size_t *count)
{
	*count = 0;
	return profile->timeline ? pmp_timeline_runs(profile->timeline, count) : NULL;
}

const struct pmp_profile_options *pmp_profile_options(const struct pmp_profile *profile)
{
	return &profile->options;
}

uint64_t pmp_profile_sweeps(const struct pmp_profile *profile)
{
	return profile->sweeps;
}

struct pmp_profile_parts pmp_profile_parts(struct pmp_profile *profile)
{
	return (struct pmp_profile_parts){
		.entries = &profile->entries,
		.times = profile->times,
		.timeline = profile->timeline,
		.stops = &profile->stops,
		.info = &profile->info,
		.metadata = &profile->metadata,
		.live = profile->live,
	};
}

int pmp_profile_sum_groups(struct pmp_profile *profile)
{
	profile->groups = pmp_group_sums_new();
	if (!profile->groups || pmp_profile_divide_cpu(profile))
		return PMP_ENOMEM;
	return pmp_group_sums_add_entries(profile->groups, &profile->entries);
}

struct pmp_group_sums *pmp_profile_groups(struct pmp_profile *profile)
{
	return profile->groups;
}

size_t pmp_profile_group_count(const struct pmp_profile *profile)
{
	return profile->groups ? pmp_group_sums_count(profile->groups) : 0;
}

void pmp_profile_group(const struct pmp_profile *profile, size_t i,
		       struct pmp_group_times *times)
{
	pmp_sized_give(times, pmp_group_sums_get(profile->groups, i), sizeof(*times));
}

const struct pmp_history *pmp_profile_past(const struct pmp_profile *profile)
{
	return profile->history;
}

struct pmp_symbolizer *pmp_profile_symbolizer(struct pmp_profile *profile)
{
	return profile->symbolizer;
}

void pmp_profile_metadata(const struct pmp_profile *profile,
			  struct pmp_metadata *metadata)
{
	*metadata = profile->metadata;
	metadata->duration = profile->info.last_time - profile->info.first_time;
	metadata->command = profile->command;
	metadata->host = profile->host;
	metadata->sample_type = (struct pmp_sample_type){ profile->type, profile->unit };
}

void pmp_profile_describe(const struct pmp_profile *profile,
			  struct pmp_profile_metadata *metadata)
{
	struct pmp_profile_metadata all = { 0 };
	struct pmp_metadata known;

	pmp_profile_metadata(profile, &known);
	all.realtime = known.realtime;
	all.duration = known.duration;
	all.period = known.period;
	all.command = known.command;
	all.host = known.host;
	all.type = known.sample_type.type;
	all.unit = known.sample_type.unit;
	all.guessed = known.guessed;
	pmp_sized_give(metadata, &all, sizeof(all));
}

/* Files of different rates have none in common, in whatever order they are read. */
static void join_period(struct pmp_profile *profile, uint64_t period)
{
	struct pmp_metadata *metadata = &profile->metadata;

	if (!profile->info.samples && !metadata->period)
		metadata->period = period;
	else if (metadata->period != period)
		metadata->period = 0;
}

int pmp_profile_join(struct pmp_profile *profile, const struct pmp_profile_info *info,
		     const struct pmp_metadata *metadata)
{
	struct pmp_profile_info *all = &profile->info, *joined = &profile->joined;

	if (learn(&profile->command, metadata->command) ||
	    learn(&profile->host, metadata->host) ||
	    learn(&profile->type, metadata->sample_type.type) ||
	    learn(&profile->unit, metadata->sample_type.unit))
		return PMP_ENOMEM;
	if (profile->live)
		pmp_live_join(profile->live, info->samples, metadata->duration,
			      profile->type && *profile->type);
	if (!profile->metadata.realtime ||
	    (metadata->realtime && metadata->realtime < profile->metadata.realtime))
		profile->metadata.realtime = metadata->realtime;
	join_period(profile, metadata->period);
	profile->metadata.guessed |= metadata->guessed;
	all->last_time += metadata->duration;
	all->samples += info->samples;
	all->rounds += info->rounds;
	all->stacks += info->stacks;
	all->truncated += info->truncated;
	all->not_stopped += info->not_stopped;
	all->vanished += info->vanished;
	all->evicted += info->evicted;
	all->evicted_distinct += info->evicted_distinct;
	all->negative += info->negative;
	all->stops += info->stops;
	all->stopped += info->stopped;
	all->any_stopped += info->any_stopped;
	joined->stopped_max = larger(joined->stopped_max, info->stopped_max);
	joined->stopped_p50 = larger(joined->stopped_p50, info->stopped_p50);
	joined->stopped_p99 = larger(joined->stopped_p99, info->stopped_p99);
	return 0;
}
