/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/outside-kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "libpmp.h"

#define LOOK_EVERY PMP_S
#define LOOK_SHARE 20 /* looks take at most 1/20 of the time */

static void forget(struct pmp_outside_kept *kept)
{
	kept->wait_count = kept->outside_count = kept->other_count = 0;
	kept->until = 0;
}

static bool is_kept(const struct pmp_wait *wait)
{
	return pmp_wait_is_outside(wait->kind) && wait->kind != PMP_WAIT_FILE &&
	       wait->outside;
}

static int keep_waits(struct pmp_outside_kept *kept, const struct pmp_sample *sample,
		      struct pmp_watches *watches)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];
		const struct pmp_watch *watch;

		if (!is_kept(&thread->wait))
			continue;
		watch = pmp_watches_find(watches, thread->tid);
		if (!watch)
			continue;
		if (PMP_RESERVE(&kept->waits, &kept->wait_capacity, kept->wait_count + 1))
			return PMP_ENOMEM;
		kept->waits[kept->wait_count++] =
			(struct pmp_kept_wait){ thread->tid, watch->waiting,
						thread->wait };
	}
	return 0;
}

static int keep_things(struct pmp_outside_kept *kept, const struct pmp_sample *sample)
{
	if (PMP_RESERVE(&kept->outsides, &kept->outside_capacity,
			sample->outside_count) ||
	    PMP_RESERVE(&kept->others, &kept->other_capacity, sample->other_count))
		return PMP_ENOMEM;
	if (sample->outside_count)
		memcpy(kept->outsides, sample->outsides,
		       sample->outside_count * sizeof(*kept->outsides));
	if (sample->other_count)
		memcpy(kept->others, sample->others,
		       sample->other_count * sizeof(*kept->others));
	kept->outside_count = sample->outside_count;
	kept->other_count = sample->other_count;
	kept->hidden = sample->hidden;
	kept->walk_cut = sample->walk_cut;
	return 0;
}

int pmp_outside_keep(struct pmp_outside_kept *kept, const struct pmp_sample *sample,
		     struct pmp_watches *watches, uint64_t began)
{
	const uint64_t now = pmp_clock();
	uint64_t rest = (now - began) * LOOK_SHARE;

	forget(kept);
	if (keep_waits(kept, sample, watches) || keep_things(kept, sample)) {
		forget(kept);
		return PMP_ENOMEM;
	}
	kept->until = began + (rest > LOOK_EVERY ? rest : LOOK_EVERY);
	return 0;
}

static int compare_tids(const void *a, const void *b)
{
	const struct pmp_kept_wait *one = a, *other = b;

	return (one->tid > other->tid) - (one->tid < other->tid);
}

static const struct pmp_kept_wait *find_wait(const struct pmp_outside_kept *kept,
					     pid_t tid)
{
	const struct pmp_kept_wait wanted = { .tid = tid };

	return bsearch(&wanted, kept->waits, kept->wait_count, sizeof(*kept->waits),
		       compare_tids);
}

/* Add a thing with the processes involved. */
static int add_thing(const struct pmp_outside_kept *kept, const struct pmp_outside *thing,
		     struct pmp_sample *sample)
{
	int r = pmp_sample_add_outside(sample, thing);

	for (uint32_t i = 0; i < thing->shown && !r; i++)
		r = pmp_sample_add_other(sample, &kept->others[thing->other + i]);
	return r;
}

/* added: index + 1 of each thing in the sample; 0: not added yet. */
static int recall_wait(const struct pmp_outside_kept *kept, struct pmp_sample *sample,
		       struct pmp_thread *thread, const struct pmp_kept_wait *wait,
		       uint32_t *added)
{
	const uint32_t number = wait->wait.outside - 1;

	if (!added[number]) {
		if (add_thing(kept, &kept->outsides[number], sample))
			return PMP_ENOMEM;
		added[number] = (uint32_t)sample->outside_count;
	}
	thread->wait = wait->wait;
	thread->wait.outside = added[number];
	return 0;
}

/* An unchanged thread has not run since its stack was read, at run count .proven. */
static bool slept_since(const struct pmp_kept_wait *wait, const struct pmp_thread *thread,
			struct pmp_watch *watch, struct pmp_watches *watches,
			const struct pmp_process *process)
{
	struct pmp_run_count now;

	if (thread->obtained == PMP_UNCHANGED)
		return watch->proven == wait->run_count;
	return pmp_watch_read(watches, process, watch, &now) == 0 &&
	       now.value == wait->run_count;
}

int pmp_outside_recall(const struct pmp_outside_kept *kept, struct pmp_sample *sample,
		       struct pmp_watches *watches, const struct pmp_process *process)
{
	uint32_t *added = calloc(kept->outside_count + 1, sizeof(*added));
	int r = added ? 0 : PMP_ENOMEM;

	for (size_t i = 0; i < sample->thread_count && kept->wait_count && !r; i++) {
		struct pmp_thread *thread = &sample->threads[i];
		const struct pmp_kept_wait *wait = find_wait(kept, thread->tid);
		struct pmp_watch *watch;

		if (!wait || thread->wait.kind)
			continue;
		watch = pmp_watches_find(watches, thread->tid);
		if (!watch || !slept_since(wait, thread, watch, watches, process))
			continue;
		r = recall_wait(kept, sample, thread, wait, added);
		watch->waiting = wait->run_count;
	}
	free(added);
	if (!r && kept->wait_count) {
		sample->hidden = kept->hidden;
		sample->walk_cut = kept->walk_cut;
	}
	return r;
}

void pmp_outside_kept_free(struct pmp_outside_kept *kept)
{
	free(kept->waits);
	free(kept->outsides);
	free(kept->others);
	*kept = (struct pmp_outside_kept){ 0 };
}
