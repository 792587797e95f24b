/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The raw sample: reference-counted maps and modules, growing arrays of threads
 * and frames. Made by capture and by the receiver, read by the tally.
 */
#include "sample.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sized.h"

/* ---- modules and maps --------------------------------------------------- */

struct pmp_module *pmp_module_new(uint32_t id, enum pmp_module_kind kind,
				  const char *path)
{
	struct pmp_module *module = calloc(1, sizeof(*module));

	if (!module)
		return NULL;
	module->path = strdup(path);
	if (!module->path) {
		free(module);
		return NULL;
	}
	module->refs = 1;
	module->id = id;
	module->kind = kind;
	module->fd = -1;
	return module;
}

struct pmp_module *pmp_module_ref(struct pmp_module *module)
{
	module->refs++;
	return module;
}

void pmp_module_unref(struct pmp_module *module)
{
	if (!module || --module->refs)
		return;
	if (module->fd >= 0)
		close(module->fd);
	free(module->image);
	free(module->build_id);
	free(module->path);
	free(module);
}

struct pmp_maps *pmp_maps_new(void)
{
	struct pmp_maps *maps = calloc(1, sizeof(*maps));

	if (maps)
		maps->refs = 1;
	return maps;
}

struct pmp_maps *pmp_maps_ref(struct pmp_maps *maps)
{
	maps->refs++;
	return maps;
}

void pmp_maps_unref(struct pmp_maps *maps)
{
	if (!maps || --maps->refs)
		return;
	for (size_t i = 0; i < maps->module_count; i++)
		pmp_module_unref(maps->modules[i]);
	free(maps->modules);
	free(maps->regions);
	free(maps);
}

int pmp_maps_add_module(struct pmp_maps *maps, struct pmp_module *module)
{
	if (PMP_RESERVE(&maps->modules, &maps->module_capacity, maps->module_count + 1)) {
		pmp_module_unref(module);
		return PMP_ENOMEM;
	}
	maps->modules[maps->module_count++] = module;
	return 0;
}

int pmp_maps_add_region(struct pmp_maps *maps, const struct pmp_region *region)
{
	if (PMP_RESERVE(&maps->regions, &maps->region_capacity, maps->region_count + 1))
		return PMP_ENOMEM;
	maps->regions[maps->region_count++] = *region;
	return 0;
}

const struct pmp_region *pmp_maps_find(const struct pmp_maps *maps, uint64_t address)
{
	size_t after = pmp_search_after(maps->regions, maps->region_count,
					sizeof(*maps->regions), address);

	if (after && address < maps->regions[after - 1].end)
		return &maps->regions[after - 1];
	return NULL;
}

bool pmp_region_is_anonymous(const struct pmp_region *region)
{
	return region->module->kind == PMP_MODULE_ANON ||
	       (region->module->kind == PMP_MODULE_SPECIAL &&
		strcmp(region->module->path, "[heap]") == 0);
}

const struct pmp_region *pmp_maps_file_before(const struct pmp_maps *maps,
					      const struct pmp_region *region)
{
	for (size_t i = 0; region && i < PMP_REGIONS_NEAR; i++) {
		if (region->module->kind == PMP_MODULE_FILE)
			return region->prot & PMP_PROT_SHARED ? NULL : region;
		if (!pmp_region_is_anonymous(region) || region == maps->regions ||
		    region[-1].end != region->start)
			return NULL;
		region--;
	}
	return NULL;
}

const struct pmp_region *pmp_maps_file_of_lock(const struct pmp_maps *maps,
					       const struct pmp_wait *wait)
{
	uint64_t address = pmp_wait_parked_under(wait);

	if (!address && wait->kind && !pmp_wait_is_outside(wait->kind))
		address = wait->object;
	return address ? pmp_maps_file_before(maps, pmp_maps_find(maps, address)) : NULL;
}

/* FNV-1a (Fowler, Noll, Vo), cut to the size of the region. */
uint64_t pmp_kernel_address(const char *name, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++) {
		hash ^= (unsigned char)name[i];
		hash *= UINT64_C(0x100000001b3);
	}
	hash ^= hash >> 32;
	return PMP_KERNEL_START + hash % (PMP_KERNEL_END - PMP_KERNEL_START);
}

/* ---- samples ------------------------------------------------------------ */

const char *pmp_end_text(enum pmp_end end)
{
	static const char *const texts[PMP_END_COUNT] = {
		[PMP_END_ROOT] = "complete",
		[PMP_END_NOT_STOPPED] = "not stopped",
		[PMP_END_DEPTH] = "more frames than asked for",
		[PMP_END_COPY] = "stack larger than its copy",
		[PMP_END_UNREADABLE] = "memory cannot be read",
		[PMP_END_NO_INFO] = "no unwind information",
		[PMP_END_LOOP] = "stack pointer does not grow",
		[PMP_END_BAD_INFO] = "bad unwind information",
		[PMP_END_MOVED] = "code was unmapped or replaced meanwhile",
		[PMP_END_EVICTED] = "evicted",
		[PMP_END_BETWEEN] = "ran between snapshots",
		[PMP_END_GOROUTINE] = "goroutine's stack not found",
		[PMP_END_OTHER_STACK] = "other stack",
	};

	if ((unsigned)end >= PMP_END_COUNT)
		return "unknown";
	return texts[end];
}

bool pmp_wait_is_lock(const struct pmp_wait *wait)
{
	switch (wait->kind) {
	case PMP_WAIT_MUTEX:
	case PMP_WAIT_RWLOCK:
	case PMP_WAIT_LATCH:
	case PMP_WAIT_STDIO:
	case PMP_WAIT_JOIN:
	case PMP_WAIT_FILE: return true;
	default: return false;
	}
}

/* Layout of parking_lot's block: the key, three words of a queue, the futex that the
 * thread waits on (1), a bool. The last of the three words is a small number. */
uint64_t pmp_wait_parked_under(const struct pmp_wait *wait)
{
	const unsigned all = PMP_WORD_BEFORE | PMP_WORD_AT | PMP_WORD_AFTER |
			     PMP_WORD_FAR | PMP_WORD_SAME;
	const struct pmp_wait_words *words = &wait->words;

	if ((words->flags & all) != all || words->before || words->at != 1 ||
	    (words->after & 0xff) > 1)
		return 0;
	return words->far;
}

uint32_t pmp_words_free_as(const struct pmp_wait_words *words)
{
	uint32_t free_as = words->flags & PMP_WORD_FREE;

	if (words->flags & PMP_WORD_AT) {
		free_as |= words->at ? 0 : PMP_WORD_FREE_SIMPLE;
		free_as |= words->at & PMP_MUSL_READERS ? 0 : PMP_WORD_FREE_MUSL;
		free_as |= words->at & PMP_RUST_READERS ? 0 : PMP_WORD_FREE_READ;
	}
	/* Writers wait on the word after it. */
	if (words->flags & PMP_WORD_BEFORE)
		free_as |= words->before & PMP_RUST_READERS ? 0 : PMP_WORD_FREE_WRITE;
	return free_as;
}

struct pmp_sample *pmp_sample_new(void)
{
	struct pmp_sample *sample = calloc(1, sizeof(*sample));

	if (sample)
		sample->refs = 1;
	return sample;
}

struct pmp_sample *pmp_sample_ref(struct pmp_sample *sample)
{
	sample->refs++;
	return sample;
}

void pmp_sample_free(struct pmp_sample *sample)
{
	if (!sample || --sample->refs)
		return;
	pmp_maps_unref(sample->maps);
	free(sample->threads);
	free(sample->frames);
	free(sample->outsides);
	free(sample->others);
	pmp_census_free(sample->census);
	free(sample);
}

void pmp_sample_clear(struct pmp_sample *sample)
{
	const struct pmp_sample kept = {
		.refs = 1,
		.threads = sample->threads,
		.thread_capacity = sample->thread_capacity,
		.frames = sample->frames,
		.frame_capacity = sample->frame_capacity,
		.old_threads = sample->thread_count,
		.old_frames = sample->frame_count,
		.old_standstill = sample->standstill,
		.outsides = sample->outsides,
		.outside_capacity = sample->outside_capacity,
		.others = sample->others,
		.other_capacity = sample->other_capacity,
	};

	assert(sample->refs == 1);
	pmp_maps_unref(sample->maps);
	pmp_census_free(sample->census);
	*sample = kept;
}

struct pmp_thread *pmp_sample_add_thread(struct pmp_sample *sample)
{
	static const struct pmp_thread empty;

	return pmp_sample_copy_thread(sample, &empty);
}

struct pmp_thread *pmp_sample_copy_thread(struct pmp_sample *sample,
					  const struct pmp_thread *thread)
{
	struct pmp_thread *added;

	if (PMP_RESERVE(&sample->threads, &sample->thread_capacity,
			sample->thread_count + 1))
		return NULL;
	added = &sample->threads[sample->thread_count++];
	*added = *thread;
	added->frame = sample->frame_count;
	added->frame_count = 0;
	return added;
}

int pmp_sample_add_frames(struct pmp_sample *sample, const struct pmp_raw_frame *frames,
			  size_t count)
{
	assert(sample->thread_count > 0);
	/* One more than needed, so that it is not NULL even without frames. */
	if (count >= SIZE_MAX / sizeof(*frames) - sample->frame_count ||
	    PMP_RESERVE(&sample->frames, &sample->frame_capacity,
			sample->frame_count + count + 1))
		return PMP_ENOMEM;
	if (count)
		memcpy(sample->frames + sample->frame_count, frames,
		       count * sizeof(*frames));
	sample->frame_count += count;
	sample->threads[sample->thread_count - 1].frame_count += count;
	return 0;
}

/*
 * The index of this thread among the old ones if its frames, from the same reading,
 * already are where the frames of the next thread go; else old_threads. Both lists are
 * mostly in order.
 */
static size_t find_old(struct pmp_sample *sample, const struct pmp_thread *thread)
{
	const struct pmp_thread *old;

	if (sample->old_next < sample->thread_count)
		sample->old_next = sample->thread_count;
	while (sample->old_next < sample->old_threads &&
	       sample->threads[sample->old_next].tid < thread->tid)
		sample->old_next++;
	if (sample->old_next >= sample->old_threads ||
	    thread->frame_count > sample->old_frames ||
	    sample->frame_count > sample->old_frames - thread->frame_count)
		return sample->old_threads;
	old = &sample->threads[sample->old_next];
	return old->tid == thread->tid && old->reading &&
			       old->reading == thread->reading &&
			       old->frame == sample->frame_count &&
			       old->frame_count == thread->frame_count
		       ? sample->old_next
		       : sample->old_threads;
}

struct pmp_thread *pmp_sample_add_unchanged(struct pmp_sample *sample,
					    const struct pmp_thread *thread,
					    const struct pmp_raw_frame *frames)
{
	size_t old = find_old(sample, thread);
	struct pmp_thread *added;

	if (old < sample->old_threads && old == sample->thread_count) {
		added = &sample->threads[sample->thread_count++];
		added->wait = thread->wait;
		added->asleep_since = thread->asleep_since;
	} else {
		added = pmp_sample_copy_thread(sample, thread);
	}
	if (!added)
		return NULL;
	if (old < sample->old_threads) {
		added->frame_count = thread->frame_count;
		sample->frame_count += thread->frame_count;
	} else if (pmp_sample_add_frames(sample, frames, thread->frame_count) < 0) {
		return NULL;
	}
	added->obtained = PMP_UNCHANGED;
	added->stopped = 0;
	return added;
}

bool pmp_sample_stand_still(struct pmp_sample *sample, uint64_t number)
{
	struct pmp_standstill standstill = { .number = number };

	for (size_t i = 0; i < sample->thread_count; i++) {
		if (sample->threads[i].obtained != PMP_UNCHANGED ||
		    sample->threads[i].stopped)
			return false;
		standstill.truncated += sample->threads[i].end != PMP_END_ROOT;
	}
	if (!sample->thread_count)
		return false;
	sample->standstill = standstill;
	return true;
}

void pmp_sample_keep_still(struct pmp_sample *sample)
{
	sample->thread_count = sample->old_threads;
	sample->frame_count = sample->old_frames;
	sample->standstill = sample->old_standstill;
}

int pmp_sample_copy_still(struct pmp_sample *sample, const struct pmp_sample *still)
{
	if (sample->old_standstill.number == still->standstill.number) {
		pmp_sample_keep_still(sample);
		return 0;
	}
	if (PMP_RESERVE(&sample->threads, &sample->thread_capacity,
			still->thread_count) ||
	    PMP_RESERVE(&sample->frames, &sample->frame_capacity, still->frame_count + 1))
		return PMP_ENOMEM;
	if (still->thread_count)
		memcpy(sample->threads, still->threads,
		       still->thread_count * sizeof(*sample->threads));
	if (still->frame_count)
		memcpy(sample->frames, still->frames,
		       still->frame_count * sizeof(*sample->frames));
	sample->thread_count = still->thread_count;
	sample->frame_count = still->frame_count;
	sample->standstill = still->standstill;
	return 0;
}

static int by_tid(const void *key, const void *item)
{
	pid_t tid = *(const pid_t *)key, other = ((const struct pmp_thread *)item)->tid;

	return (tid > other) - (tid < other);
}

struct pmp_thread *pmp_sample_find_thread(const struct pmp_sample *sample, pid_t tid)
{
	return sample->thread_count ? bsearch(&tid, sample->threads, sample->thread_count,
					      sizeof(*sample->threads), by_tid)
				    : NULL;
}

int pmp_sample_add_outside(struct pmp_sample *sample, const struct pmp_outside *outside)
{
	if (PMP_RESERVE(&sample->outsides, &sample->outside_capacity,
			sample->outside_count + 1))
		return PMP_ENOMEM;
	sample->outsides[sample->outside_count] = *outside;
	sample->outsides[sample->outside_count].other = (uint32_t)sample->other_count;
	sample->outsides[sample->outside_count++].shown = 0;
	return 0;
}

int pmp_sample_add_other(struct pmp_sample *sample, const struct pmp_other *other)
{
	assert(sample->outside_count > 0);
	if (PMP_RESERVE(&sample->others, &sample->other_capacity,
			sample->other_count + 1))
		return PMP_ENOMEM;
	sample->others[sample->other_count++] = *other;
	sample->outsides[sample->outside_count - 1].shown++;
	return 0;
}

void pmp_sample_info(const struct pmp_sample *sample, struct pmp_sample_info *info)
{
	struct pmp_sample_info all = {
		.pid = sample->pid,
		.name = sample->name,
		.time = sample->time,
		.realtime = sample->realtime,
		.duration = sample->duration,
		.any_stopped = sample->any_stopped,
		.threads = sample->thread_count,
		.seen = sample->seen,
		.skipped = sample->skipped,
		.vanished = sample->vanished,
		.execed = sample->execed,
		.hidden = sample->hidden,
		.owner = sample->owner,
	};

	if (sample->standstill.number) {
		all.n_unchanged = sample->thread_count;
		all.truncated = sample->standstill.truncated;
		pmp_sized_give(info, &all, sizeof(all));
		return;
	}
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		all.stopped += thread->stopped;
		if (thread->stopped > all.stopped_max)
			all.stopped_max = thread->stopped;
		all.n_stopped += thread->obtained == PMP_STOPPED;
		all.n_peeked += thread->obtained == PMP_PEEKED;
		all.n_unchanged += thread->obtained == PMP_UNCHANGED;
		if (thread->obtained == PMP_NOT_STOPPED ||
		    thread->end == PMP_END_NOT_STOPPED)
			all.n_not_stopped++;
		else
			all.truncated += thread->end != PMP_END_ROOT;
	}
	pmp_sized_give(info, &all, sizeof(all));
}

void pmp_sample_thread(const struct pmp_sample *sample, size_t i,
		       struct pmp_thread_info *info)
{
	const struct pmp_thread *thread = &sample->threads[i];
	const struct pmp_thread_info all = {
		.tid = thread->tid,
		.name = thread->name,
		.state = thread->state,
		.reason = thread->reason,
		.obtained = thread->obtained,
		.stopped = thread->stopped,
		.frames = thread->frame_count,
		.complete = thread->end == PMP_END_ROOT,
	};

	pmp_sized_give(info, &all, sizeof(all));
}

const struct pmp_raw_frame *pmp_sample_raw_frame(const struct pmp_sample *sample,
						 size_t thread, size_t i)
{
	const struct pmp_thread *its;

	if (thread >= sample->thread_count)
		return NULL;
	its = &sample->threads[thread];
	/* The sample may come from a socket, so it is not trusted. */
	if (i >= its->frame_count || its->frame >= sample->frame_count ||
	    i >= sample->frame_count - its->frame)
		return NULL;
	return &sample->frames[its->frame + i];
}
