/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One capture of a process, from its list of threads to a sample:
 *
 *   look at each thread (nothing is touched)
 *     -> must not be stopped: read where it sleeps, as far as that goes
 *     -> batches of up to PMP_HOLD_MAX: stop.c holds, reads and releases
 *          -> walk.c unwinds from the copies; the threads run again
 *               -> the copy was too short: a larger one, in a later batch
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "capture/fragile.h"
#include "capture/space.h"
#include "capture/stack.h"
#include "capture/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COPY_TRIES 5			/* stops of one thread in one sample */
#define EXEC_TRIES 30			/* captures that find nobody, 1 ms apart, of a living process */
#define DISK_TRIES 3			/* looks at a thread in D, 1 ms apart */

/* ---- into the sample ------------------------------------------------------------------ */

static int emit(struct pmp_sample *sample, const struct pmp_thread *thread,
		const struct pmp_raw_frame *frames, size_t count)
{
	struct pmp_thread *added = pmp_sample_add_thread(sample);
	size_t first;

	if (!added)
		return PMP_ENOMEM;
	first = added->frame;
	*added = *thread;
	added->frame = first;
	added->frame_count = 0;
	return pmp_sample_add_frames(sample, frames, count);
}

/* A thread that was left alone: the one frame that /proc knows. */
static int emit_one_frame(struct pmp_sample *sample, struct pmp_work *work)
{
	const struct pmp_raw_frame frame = { work->look.pc, PMP_FRAME_EXACT };

	work->thread.obtained = PMP_NOT_STOPPED;
	work->thread.end = PMP_END_NOT_STOPPED;
	work->thread.sp = work->look.sp;
	return emit(sample, &work->thread, &frame, work->look.pc ? 1 : 0);
}

/*
 * Read the stack of a blocked thread where it sleeps. work->thread.runs was read
 * before, and is read again behind all the rest: equal, the thread has not been on a
 * processor in between, and what was read is as consistent as a stop would give.
 */
static bool read_asleep(struct pmp_target *target, struct pmp_work *work, struct pmp_hold *hold)
{
	struct pmp_range *range = &hold->ranges[0];
	struct pmp_thread again = work->thread;
	struct pmp_look unused;
	uint64_t runs = work->thread.runs;

	if (!runs || pmp_thread_look(&target->process, again.tid, &work->thread, &work->look) < 0 ||
	    !work->look.pc)
		return false;
	range->address = work->look.sp;
	for (size_t i = 0; i < hold->range_count; i++) {
		ssize_t got = pmp_file_pread(target->process.mem, hold->ranges[i].data,
					     hold->ranges[i].want, hold->ranges[i].address);

		hold->ranges[i].got = got > 0 ? (size_t)got : 0;
	}
	return pmp_thread_look(&target->process, again.tid, &again, &unused) == 0 &&
	       again.runs == runs;
}

/*
 * A thread that must not be stopped. Of its registers only pc and sp are known
 * (/proc/PID/task/TID/syscall), which is often enough to get to the root.
 */
static int emit_untouched(struct pmp_target *target, struct pmp_sample *sample,
			  struct pmp_work *work)
{
	struct pmp_stack_reader reader = { .target = target, .hold = &target->holds[0] };
	struct pmp_walk walk;
	int r = 0;

	for (int tries = 0; tries < COPY_TRIES && work->look.pc; tries++) {
		r = pmp_stack_prepare(target, work, 1);
		if (r < 0 || !read_asleep(target, work, reader.hold))
			break;
		reader.regs.valid = 0;
		pmp_regs_set(&reader.regs, pmp_reg_pc, work->look.pc);
		pmp_regs_set(&reader.regs, pmp_reg_sp, work->look.sp);
		r = pmp_stack_walk(target, &reader, &walk);
		if (r < 0)
			break;
		if (reader.missed && walk.end == PMP_END_UNREADABLE &&
		    pmp_stack_want_more(target, work->watch, &reader))
			continue;
		pmp_stack_learn(work->watch, &reader);
		work->thread.sp = work->look.sp;
		work->thread.obtained = PMP_NOT_STOPPED;
		work->thread.end = PMP_END_NOT_STOPPED;
		if (walk.end == PMP_END_ROOT || walk.end == PMP_END_DEPTH) {
			work->thread.obtained = PMP_LOOKED;
			work->thread.end = walk.end;
			work->thread.why[0] = '\0';
		}
		return emit(sample, &work->thread, walk.frames, walk.count);
	}
	return r < 0 ? r : emit_one_frame(sample, work);
}

static int emit_unread(struct pmp_target *target, struct pmp_sample *sample,
		       struct pmp_work *work, const struct pmp_hold *hold)
{
	char *why = work->thread.why;
	size_t size = sizeof(work->thread.why);

	switch (hold->result) {
	case PMP_HOLD_GONE:
		sample->vanished++;
		return 0;
	case PMP_HOLD_LATE:
		snprintf(why, size, "did not stop in time");
		break;
	case PMP_HOLD_REFUSED:
		if (pmp_thread_look(&target->process, hold->tid, &work->thread, &work->look) < 0) {
			sample->vanished++;
			return 0;
		}
		if (work->look.tracer)
			snprintf(why, size, "traced by %d", (int)work->look.tracer);
		else
			snprintf(why, size, "%s", strerror(hold->sys_errno));
		break;
	default:
		snprintf(why, size, "%s", strerror(hold->sys_errno));
		break;
	}
	return emit_one_frame(sample, work);
}

/*
 * Unwind and add one thread that has been held. Returns 1 if its copy was too
 * short and it is worth another try, 0 when it is in the sample, or an error.
 */
static int finish(struct pmp_target *target, struct pmp_sample *sample, struct pmp_work *work,
		  struct pmp_hold *hold)
{
	struct pmp_stack_reader reader = { .target = target, .hold = hold };
	struct pmp_walk walk;
	int r;

	work->thread.stopped += hold->stopped;
	work->tries++;
	if (hold->result != PMP_HOLD_DONE)
		return emit_unread(target, sample, work, hold);
	pmp_arch_convert(&hold->user, &reader.regs);
	r = pmp_stack_walk(target, &reader, &walk);
	if (r < 0)
		return r;
	if (reader.missed && walk.end != PMP_END_ROOT && walk.end != PMP_END_DEPTH) {
		if (work->tries < COPY_TRIES && pmp_stack_want_more(target, work->watch, &reader))
			return 1;
		if (walk.end == PMP_END_UNREADABLE)
			walk.end = PMP_END_COPY;
	}
	pmp_stack_learn(work->watch, &reader);
	work->thread.obtained = PMP_STOPPED;
	work->thread.end = walk.end;
	work->thread.tls = hold->tls;
	work->thread.sp = pmp_arch_sp(&hold->user);
	return emit(sample, &work->thread, walk.frames, walk.count);
}

/* ---- the threads ------------------------------------------------------------------------ */

/* Carry over what is known, by thread id; both lists are ascending. */
static int renew_watches(struct pmp_target *target)
{
	struct pmp_watch *watches = calloc(target->tid_count ? target->tid_count : 1,
				       sizeof(*watches));
	size_t old = 0;

	if (!watches)
		return PMP_ENOMEM;
	for (size_t i = 0; i < target->tid_count; i++) {
		while (old < target->watch_count && target->watches[old].tid < target->tids[i])
			old++;
		if (old < target->watch_count && target->watches[old].tid == target->tids[i])
			watches[i] = target->watches[old];
		watches[i].tid = target->tids[i];
	}
	free(target->watches);
	target->watches = watches;
	target->watch_count = target->tid_count;
	return 0;
}

enum verdict { LEFT_OUT, EMITTED, ON_DISK, TO_STOP };

/* Look at thread i. EMITTED also when that is not possible: *r tells. */
static enum verdict consider(struct pmp_target *target, struct pmp_sample *sample, size_t i,
			     struct pmp_work *work, int *r)
{
	*r = 0;
	*work = (struct pmp_work){ .watch = &target->watches[i] };
	*r = pmp_thread_look(&target->process, target->tids[i], &work->thread, &work->look);
	if (*r == PMP_ELIMIT)
		return EMITTED;
	if (*r < 0) {
		*r = 0;
		sample->vanished++;
		return LEFT_OUT;
	}
	if (target->options.want_thread &&
	    !target->options.want_thread(target->options.want_arg, work->thread.tid,
					 work->thread.name)) {
		sample->skipped++;
		return LEFT_OUT;
	}
	if (work->watch->range_count == 0)
		pmp_stack_want_first(work->watch);
	if (target->options.stop == PMP_STOP_NEVER)
		snprintf(work->thread.why, sizeof(work->thread.why), "--stop=never");
	else if (pmp_may_stop(&target->process, &work->thread, &work->look))
		return TO_STOP;
	else if (work->thread.state == 'D')
		return ON_DISK;
	*r = emit_untouched(target, sample, work);
	return EMITTED;
}

static int stop_batch(struct pmp_target *target, struct pmp_sample *sample, size_t count)
{
	int r = pmp_stack_prepare(target, target->works, count);

	if (r < 0)
		return r;
	if (target->options.stop == PMP_STOP_ALL)
		sample->any_stopped += pmp_stop_together(target->stopper, target->maps,
							 target->holds, count);
	else
		sample->any_stopped += pmp_stop_each(target->stopper, target->maps,
						     target->holds, count);
	return 0;
}

static int reserve_works(struct pmp_target *target, size_t count)
{
	if (PMP_RESERVE(&target->works, &target->work_capacity, count) < 0 ||
	    PMP_RESERVE(&target->holds, &target->hold_capacity, count) < 0)
		return PMP_ENOMEM;
	return 0;
}

/* Stop a batch and finish its threads; those that need a larger copy stay, at
 * the front of works. Returns how many do, or an error. */
static ssize_t run_batch(struct pmp_target *target, struct pmp_sample *sample, size_t count)
{
	ssize_t again = 0;
	int r = stop_batch(target, sample, count);

	for (size_t i = 0; i < count && r >= 0; i++) {
		r = finish(target, sample, &target->works[i], &target->holds[i]);
		if (r == 1)
			target->works[again++] = target->works[i];
	}
	return r < 0 ? r : again;
}

/* Threads in D may be waiting for a disk for a moment, or for ever. */
static int capture_on_disk(struct pmp_target *target, struct pmp_sample *sample,
			   const size_t *indices, size_t index_count)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	struct pmp_work *work = &target->works[0];
	unsigned tries = 0;
	int r = 0;

	for (size_t i = 0; i < index_count && r >= 0; i++) {
		enum verdict verdict = consider(target, sample, indices[i], work, &r);

		while (verdict == ON_DISK && tries < DISK_TRIES) {
			tries++;
			nanosleep(&nap, NULL);
			verdict = consider(target, sample, indices[i], work, &r);
		}
		if (verdict == ON_DISK) {
			r = emit_untouched(target, sample, work);
		} else if (verdict == TO_STOP) {
			ssize_t again = 1;

			while (again > 0)
				again = run_batch(target, sample, 1);
			r = (int)again;
		}
	}
	return r;
}

/* Thread after thread, in batches. */
static int capture_each(struct pmp_target *target, struct pmp_sample *sample)
{
	size_t *on_disk = calloc(target->tid_count ? target->tid_count : 1, sizeof(*on_disk));
	size_t next = 0, disk_count = 0;
	ssize_t count = 0;
	int r = on_disk ? reserve_works(target, PMP_HOLD_MAX) : PMP_ENOMEM;

	while (r >= 0 && (next < target->tid_count || count > 0)) {
		if (next < target->tid_count && count < PMP_HOLD_MAX) {
			enum verdict verdict = consider(target, sample, next,
							&target->works[count], &r);

			if (verdict == TO_STOP)
				count++;
			else if (verdict == ON_DISK)
				on_disk[disk_count++] = next;
			next++;
			continue;
		}
		count = run_batch(target, sample, (size_t)count);
		if (count < 0)
			r = (int)count;
	}
	if (r >= 0)
		r = capture_on_disk(target, sample, on_disk, disk_count);
	free(on_disk);
	return r;
}

/* All at one instant. If a copy was too short, all once more with what was learned. */
static int capture_together(struct pmp_target *target, struct pmp_sample *sample)
{
	size_t threads, frames, vanished, count = 0;
	int r = reserve_works(target, target->tid_count);

	for (size_t i = 0; i < target->tid_count && r >= 0; i++) {
		enum verdict verdict = consider(target, sample, i, &target->works[count], &r);

		if (verdict == TO_STOP)
			count++;
		else if (verdict == ON_DISK)
			r = emit_untouched(target, sample, &target->works[count]);
	}
	threads = sample->thread_count;
	frames = sample->frame_count;
	vanished = sample->vanished;
	for (bool again = true; again && r >= 0;) {
		again = false;
		sample->thread_count = threads;
		sample->frame_count = frames;
		sample->vanished = vanished;
		r = stop_batch(target, sample, count);
		for (size_t i = 0; i < count && r >= 0; i++) {
			r = finish(target, sample, &target->works[i], &target->holds[i]);
			again = again || r == 1;
		}
	}
	return r;
}

/* ---- capture -------------------------------------------------------------------------------- */

static int by_tid(const void *a, const void *b)
{
	pid_t x = ((const struct pmp_thread *)a)->tid, y = ((const struct pmp_thread *)b)->tid;

	return (x > y) - (x < y);
}

/* Was ptrace refused for all of them? Then say why, instead of a sample that says nothing. */
static int check_refused(struct pmp_target *target, const struct pmp_sample *sample,
			 struct pmp_error *err)
{
	pid_t refused = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		if (thread->obtained != PMP_NOT_STOPPED)
			return 0;
		if (strcmp(thread->why, strerror(EPERM)) == 0 ||
		    strncmp(thread->why, "traced by ", 10) == 0)
			refused = thread->tid;
	}
	if (!refused || target->captured)
		return 0;
	return pmp_process_explain(&target->process, refused, EPERM, err);
}

static int capture_threads(struct pmp_target *target, struct pmp_sample *sample,
			   struct pmp_error *err)
{
	int r = pmp_threads_list(&target->process, &target->tids, &target->tid_capacity,
				 &target->tid_count);

	if (r >= 0)
		r = renew_watches(target);
	if (r >= 0) {
		sample->seen = target->tid_count;
		r = target->options.stop == PMP_STOP_ALL ? capture_together(target, sample)
							 : capture_each(target, sample);
	}
	if (r == PMP_ESRCH)
		return pmp_target_gone(target, err);
	if (r == PMP_ELIMIT)
		return pmp_error_sys(err, PMP_ELIMIT, EMFILE, "cannot look at the threads of %d",
				     (int)target->process.pid);
	if (r < 0)
		return pmp_error_nomem(err, "take a sample");
	return 0;
}

static int capture(struct pmp_target *target, struct pmp_sample *sample, struct pmp_error *err)
{
	struct pmp_maps *before = NULL;
	int r = pmp_space_update(target, sample, err);

	if (r >= 0) {
		before = pmp_maps_ref(target->maps);
		pmp_memory_tick(target->memory);
		r = capture_threads(target, sample, err);
	}
	if (r >= 0)
		pmp_space_check(target, sample, before);
	pmp_maps_unref(before);
	if (sample->thread_count == 0 && pmp_target_ended(target))
		return pmp_target_gone(target, err);
	return r < 0 ? r : check_refused(target, sample, err);
}

static int capture_new(struct pmp_target *target, struct pmp_sample **out,
		       struct pmp_error *err)
{
	struct pmp_sample *sample = pmp_sample_new();
	int r;

	if (!sample)
		return pmp_error_nomem(err, "take a sample");
	sample->pid = target->process.pid;
	sample->time = pmp_clock();
	sample->realtime = pmp_clock_realtime();
	r = capture(target, sample, err);
	if (r < 0) {
		pmp_sample_free(sample);
		return r;
	}
	target->captured = true;
	memcpy(sample->name, target->process.name, sizeof(sample->name));
	qsort(sample->threads, sample->thread_count, sizeof(*sample->threads), by_tid);
	sample->maps = pmp_maps_ref(target->maps);
	sample->duration = pmp_clock() - sample->time;
	PMP_LOG(&target->log, "capture", "%zu of %zu threads in %llu us, held %llu us",
		sample->thread_count, sample->seen,
		(unsigned long long)(sample->duration / PMP_US),
		(unsigned long long)(sample->any_stopped / PMP_US));
	*out = sample;
	return 0;
}

int pmp_target_capture(struct pmp_target *target, struct pmp_sample **out,
		       struct pmp_error *err)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	int r;

	*out = NULL;
	/* In the middle of an exec a process can look as if it had ended; and the
	 * exec may be waiting for us to reap a thread. */
	for (int tries = 1;; tries++) {
		if (pmp_target_ended(target))
			return pmp_target_gone(target, err);
		r = capture_new(target, out, err);
		if (r != PMP_ESRCH || tries == EXEC_TRIES)
			return r;
		pmp_stopper_settle(target->stopper);
		nanosleep(&nap, NULL);
	}
}

