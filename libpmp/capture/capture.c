/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One capture of a process, from its list of threads to a sample:
 *
 *   watch.c: has the thread run since its last sample?
 *     -> no: its stack is the same
 *     -> it is blocked: look.c reads it where it sleeps
 *     -> it runs, or that was not enough: batches of up to PMP_HOLD_MAX
 *          -> stop.c holds, reads and releases
 *          -> walk.c unwinds from the copies; the threads run again
 *               -> the copy was too short: a larger one, in a later batch
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "capture/fragile.h"
#include "capture/look.h"
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

static int emit(struct pmp_sample *sample, const struct pmp_thread *thread)
{
	struct pmp_thread *added = pmp_sample_add_thread(sample);
	size_t first;

	if (!added)
		return PMP_ENOMEM;
	first = added->frame;
	*added = *thread;
	added->frame = first;
	added->frame_count = 0;
	return 0;
}

/* The thread has not run since this was read. */
static int emit_unchanged(struct pmp_sample *sample, const struct pmp_watch *watch)
{
	struct pmp_thread thread = watch->thread;
	int r;

	thread.obtained = PMP_UNCHANGED;
	thread.stopped = 0;
	r = emit(sample, &thread);
	return r < 0 ? r : pmp_sample_add_frames(sample, watch->frames,
						 watch->thread.frame_count);
}

static int emit_work(struct pmp_target *target, struct pmp_sample *sample,
		     struct pmp_work *work, const struct pmp_walk *walk)
{
	int r;

	work->thread.end = walk->end;
	work->thread.reading = ++target->readings;
	r = emit(sample, &work->thread);
	if (r == 0)
		r = pmp_sample_add_frames(sample, target->kernel.frames,
					  target->kernel.count);
	target->kernel.count = 0;
	return r < 0 ? r : pmp_sample_add_frames(sample, walk->frames, walk->count);
}

/* Read completely where it sleeps: the same again as long as it does not run. */
static int emit_looked(struct pmp_target *target, struct pmp_sample *sample,
		       struct pmp_work *work, const struct pmp_walk *walk)
{
	const struct pmp_thread *added;
	int r;

	work->thread.sp = work->look.sp;
	work->thread.obtained = PMP_LOOKED;
	work->thread.why[0] = '\0';
	r = emit_work(target, sample, work, walk);
	if (r < 0)
		return r;
	added = &sample->threads[sample->thread_count - 1];
	return pmp_watch_keep(work->watch, work->mark, &work->thread,
			      sample->frames + added->frame, added->frame_count);
}

/* A thread that was left alone: the frames that are certain, or the one that /proc
 * knows. */
static int emit_not_stopped(struct pmp_target *target, struct pmp_sample *sample,
			    struct pmp_work *work, struct pmp_walk *walk)
{
	struct pmp_raw_frame frame = { work->look.pc, PMP_FRAME_EXACT };
	int r;

	target->kernel.count = 0;
	if (target->options.kernel && work->thread.state != 'R') {
		r = pmp_kernel_read(&target->kernel, &target->process, work->thread.tid);
		if (r < 0)
			return r;
	}
	if (!walk->count && work->look.pc) {
		walk->frames = &frame;
		walk->count = 1;
	}
	walk->end = PMP_END_NOT_STOPPED;
	work->thread.obtained = PMP_NOT_STOPPED;
	work->thread.sp = work->look.sp;
	return emit_work(target, sample, work, walk);
}

static int emit_one_frame(struct pmp_target *target, struct pmp_sample *sample,
			  struct pmp_work *work)
{
	return emit_not_stopped(target, sample, work, &(struct pmp_walk){ 0 });
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
		if (pmp_thread_look(&target->process, hold->tid, &work->thread, &work->look) < 0 ||
		    pmp_thread_ask(&target->process, hold->tid, &work->look) < 0) {
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
	return emit_one_frame(target, sample, work);
}

/* It was looked at before the stop. If it has left its call since, what was seen of
 * that does not belong to this stack. */
static void see_call(struct pmp_thread *thread, const union pmp_user_regs *user)
{
	if (thread->syscall < 0 || pmp_arch_may_be_in(user, thread->syscall) ||
	    PMP_FAULT("stale-call"))
		return;
	thread->state = 'R';
	thread->syscall = PMP_SYSCALL_UNKNOWN;
	thread->wchan[0] = '\0';
	memset(thread->args, 0, sizeof(thread->args));
}

#ifdef PMP_FAULTS
/* Believe that a stopped thread stays where it was. */
static int keep_stopped(struct pmp_target *target, const struct pmp_work *work,
			const struct pmp_walk *walk)
{
	struct pmp_mark mark;

	if (pmp_watch_read(&target->watches, &target->process, work->watch, &mark) < 0)
		return 0;
	return pmp_watch_keep(work->watch, mark.mark, &work->thread, walk->frames,
			      walk->count);
}
#endif

/*
 * Unwind and add one thread that has been held. Returns 1 if its copy was too
 * short and it is worth another try, 0 when it is in the sample, or an error.
 */
static int finish(struct pmp_target *target, struct pmp_sample *sample, struct pmp_work *work,
		  struct pmp_hold *hold)
{
	struct pmp_stack_reader reader = { .target = target, .hold = hold };
	struct pmp_walk walk = { 0 };
	int r;

	work->thread.stopped += hold->stopped;
	work->tries++;
	if (hold->result != PMP_HOLD_DONE)
		return emit_unread(target, sample, work, hold);
	pmp_arch_convert(&hold->user, &reader.regs);
	if (work->thread.syscall >= 0)
		pmp_arch_behind_call(&reader.regs, work->look.pc);
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
	pmp_look_learn(target, &walk);
	work->thread.obtained = PMP_STOPPED;
	target->kernel.count = 0;
	work->thread.tls = hold->tls;
	work->thread.sp = pmp_arch_sp(&hold->user);
	see_call(&work->thread, &hold->user);
	r = emit_work(target, sample, work, &walk);
#ifdef PMP_FAULTS
	if (r == 0 && PMP_FAULT("base-from-stop"))
		r = keep_stopped(target, work, &walk);
#endif
	return r;
}

/* ---- the threads ------------------------------------------------------------------------ */

enum verdict {
	LEFT_OUT,
	EMITTED,	/* or an error */
	ON_DISK,	/* in D, which may end in a moment */
	LATER,		/* one that lacks the same is about to be stopped, which helps both */
	TO_STOP,
};

static bool is_wanted(struct pmp_target *target, const struct pmp_work *work)
{
	const struct pmp_target_options *options = &target->options;

	return !options->want_thread ||
	       options->want_thread(options->want_arg, work->thread.tid, work->thread.name);
}

/* *r is what came of a thread: PMP_ESRCH is no error, it has ended meanwhile. */
static enum verdict settled(struct pmp_sample *sample, int *r)
{
	if (*r != PMP_ESRCH)
		return EMITTED;
	sample->vanished++;
	*r = 0;
	return LEFT_OUT;
}

/* As pmp_watch_read(), but for those of which it is known already. */
static int read_mark(struct pmp_target *target, struct pmp_watch *watch,
		     struct pmp_mark *mark)
{
	if (!target->rest_proven || !watch->rests)
		return pmp_watch_read(&target->watches, &target->process, watch, mark);
	*mark = watch->last.mark;
	mark->mark = watch->proven;
	return 0;
}

/* Look at a thread, but for its stack. */
static enum verdict meet(struct pmp_target *target, struct pmp_sample *sample, size_t i,
			 struct pmp_work *work, int *r)
{
	struct pmp_watch *watch = target->watches.items[i];
	struct pmp_mark mark;

	*work = (struct pmp_work){ .watch = watch };
	watch->met = target->number;
	*r = read_mark(target, watch, &mark);
	if (*r == 0 && mark.mark && mark.mark == watch->proven &&
	    target->options.stop != PMP_STOP_ALL) {
		sample->skipped += watch->unwanted;
		if (watch->unwanted)
			return LEFT_OUT;
		*r = emit_unchanged(sample, watch);
		return EMITTED;
	}
	watch->proven = 0;
	watch->changed = target->number;
	watch->changes++;
	work->mark = mark.mark;
	work->thread.cpu = mark.cpu;
	work->thread.runs = mark.runs;
	if (*r == 0)
		*r = pmp_thread_look(&target->process, watch->tid, &work->thread, &work->look);
	if (*r < 0)
		return settled(sample, r);
	watch->unwanted = !is_wanted(target, work);
	if (!watch->unwanted)
		return TO_STOP;
	/* Blocked since, it has the same name when it has the same mark. */
	watch->proven = work->look.pc ? work->mark : 0;
	sample->skipped++;
	return LEFT_OUT;
}

/* Is there one among these that lacks the same? Its stop will tell. */
static bool is_lacked(const struct pmp_work *works, size_t count, uint64_t pc)
{
	for (size_t i = 0; pc && i < count; i++)
		if (works[i].lacks == pc)
			return true;
	return false;
}

/* 1: it is in the sample; 0: walk has what is certain; or an error. */
static int try_look(struct pmp_target *target, struct pmp_sample *sample,
		    struct pmp_work *work, struct pmp_walk *walk)
{
	int r = work->look.pc ? pmp_look(target, work, walk) : 0;

	if (r <= 0)
		return r;
	r = emit_looked(target, sample, work, walk);
	return r < 0 ? r : 1;
}

/* 1: yes; 0: no, work->thread.why says why; or an error. */
static int may_stop(struct pmp_target *target, struct pmp_work *work)
{
	int r;

	if (target->options.stop == PMP_STOP_NEVER) {
		snprintf(work->thread.why, sizeof(work->thread.why), "--stop=never");
		return 0;
	}
	r = pmp_thread_ask(&target->process, work->thread.tid, &work->look);
	return r < 0 ? r : pmp_may_stop(&target->process, &work->thread, &work->look);
}

/*
 * Take thread i without a stop, or say what to do with it. It becomes
 * target->works[count]; those before it are about to be stopped. last: it will not be
 * asked again. *r is negative for an error.
 */
static enum verdict consider(struct pmp_target *target, struct pmp_sample *sample, size_t i,
			     size_t count, bool last, int *r)
{
	bool together = target->options.stop == PMP_STOP_ALL;
	struct pmp_work *work = &target->works[count];
	enum verdict verdict = meet(target, sample, i, work, r);
	struct pmp_walk walk = { 0 };

	if (verdict != TO_STOP)
		return verdict;
	*r = pmp_space_update(target, NULL);
	if (*r < 0)
		return settled(sample, r);
	if (work->watch->range_count == 0)
		pmp_stack_want_first(work->watch);
	if (!together && !PMP_FAULT("no-look"))
		*r = try_look(target, sample, work, &walk);
	if (*r)
		return settled(sample, r);
	*r = may_stop(target, work);
	if (*r > 0)
		return !last && is_lacked(target->works, count, work->lacks) ? LATER
									     : TO_STOP;
	if (*r == 0 && together)
		*r = try_look(target, sample, work, &walk);
	if (*r)
		return settled(sample, r);
	if (work->thread.state == 'D' && !last)
		return ON_DISK;
	*r = emit_not_stopped(target, sample, work, &walk);
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

/* Some of the threads, by index, and those that have to be looked at once more. */
struct pass {
	size_t *todo, *later;
	size_t todo_count, later_count;
	bool on_disk;		/* there is one in D among those */
	bool last;
};

/* Thread after thread, in batches. */
static int run_pass(struct pmp_target *target, struct pmp_sample *sample, struct pass *pass)
{
	size_t next = 0;
	ssize_t count = 0;
	int r = 0;

	pass->later_count = 0;
	pass->on_disk = false;
	while (r >= 0 && (next < pass->todo_count || count > 0)) {
		enum verdict verdict;

		if (next == pass->todo_count || count == PMP_HOLD_MAX) {
			count = run_batch(target, sample, (size_t)count);
			if (count < 0)
				r = (int)count;
			continue;
		}
		verdict = consider(target, sample, pass->todo[next], (size_t)count, pass->last,
				   &r);
		if (verdict == TO_STOP)
			count++;
		else if (verdict == LATER || verdict == ON_DISK)
			pass->later[pass->later_count++] = pass->todo[next];
		pass->on_disk = pass->on_disk || verdict == ON_DISK;
		next++;
	}
	return r;
}

/* Threads in D may be waiting for a disk for a moment, or for ever. */
static int run_passes(struct pmp_target *target, struct pmp_sample *sample, struct pass *pass)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	int r = run_pass(target, sample, pass);

	for (int tries = 1; r >= 0 && pass->later_count > 0; tries++) {
		size_t *todo = pass->todo;

		pass->todo = pass->later;
		pass->todo_count = pass->later_count;
		pass->later = todo;
		pass->last = tries == DISK_TRIES;
		if (pass->on_disk)
			nanosleep(&nap, NULL);
		r = run_pass(target, sample, pass);
	}
	return r;
}

/* Those of the listed threads that this capture has not met yet. */
static int capture_each(struct pmp_target *target, struct pmp_sample *sample)
{
	size_t *indices = calloc(target->tid_count + 1, 2 * sizeof(*indices));
	struct pass pass = { .todo = indices };
	int r = indices ? reserve_works(target, PMP_HOLD_MAX) : PMP_ENOMEM;

	if (r >= 0) {
		pass.later = indices + target->tid_count;
		for (size_t i = 0; i < target->tid_count; i++)
			if (target->watches.items[i]->met != target->number)
				indices[pass.todo_count++] = i;
		r = run_passes(target, sample, &pass);
	}
	free(indices);
	return r;
}

/* All at one instant. If a copy was too short, all once more with what was learned. */
static int capture_together(struct pmp_target *target, struct pmp_sample *sample)
{
	size_t threads, frames, vanished, count = 0;
	int r = reserve_works(target, target->tid_count + 1);

	for (size_t i = 0; i < target->tid_count && r >= 0; i++)
		count += consider(target, sample, i, count, true, &r) == TO_STOP;
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

/* Those that were not stopped come first, each kind in order: mostly it is all one kind. */
static void sort_threads(struct pmp_sample *sample)
{
	size_t i = 1;

	while (i < sample->thread_count &&
	       sample->threads[i - 1].tid < sample->threads[i].tid)
		i++;
	if (i < sample->thread_count)
		qsort(sample->threads, sample->thread_count, sizeof(*sample->threads),
		      by_tid);
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

static int list_threads(struct pmp_target *target, struct pmp_sample *sample)
{
	int r = pmp_threads_list(&target->process, &target->tids, &target->tid_capacity,
				 &target->tid_count);

	if (r >= 0)
		r = pmp_watches_renew(&target->watches, target->tids, target->tid_count);
	if (r >= 0)
		sample->seen = target->tid_count;
	return r;
}

/*
 * While the kernel counts as many threads as are known, and all of these are met, they
 * are the same: reading their marks has told that they live. Listing them anew would
 * cost as much as all the rest.
 */
static int capture_each_known(struct pmp_target *target, struct pmp_sample *sample)
{
	bool known = target->watches.count > 0 && target->watches.count == target->tid_count &&
		     pmp_threads_count(&target->process) == target->tid_count;
	size_t vanished = sample->vanished;
	int r = 0;

	sample->seen = target->tid_count;
	target->rest_proven =
		known && pmp_resting_prove(&target->resting, &target->watches,
					   &target->process, target->number, &target->log);
	if (known)
		r = capture_each(target, sample);
	if (r >= 0 && (!known || sample->vanished != vanished)) {
		target->rest_proven = false;
		pmp_resting_forget(&target->resting);
		r = list_threads(target, sample);
		if (r >= 0)
			r = capture_each(target, sample);
	} else if (r >= 0 && !target->rest_proven) {
		pmp_resting_learn(&target->resting, &target->watches);
	}
	return r;
}

static int capture_all(struct pmp_target *target, struct pmp_sample *sample)
{
	int r = list_threads(target, sample);

	return r < 0 ? r : capture_together(target, sample);
}

static int capture_threads(struct pmp_target *target, struct pmp_sample *sample,
			   struct pmp_error *err)
{
	int r;

	target->number++;
	r = target->options.stop == PMP_STOP_ALL ? capture_all(target, sample)
						 : capture_each_known(target, sample);
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
	int r = pmp_space_begin(target, sample, err);

	if (r >= 0) {
		pmp_memory_tick(target->memory);
		r = capture_threads(target, sample, err);
	}
	if (r >= 0)
		pmp_space_check(target, sample);
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
	r = PMP_RESERVE(&sample->threads, &sample->thread_capacity, target->tid_count);
	r = r < 0 ? pmp_error_nomem(err, "take a sample") : capture(target, sample, err);
	if (r < 0) {
		pmp_sample_free(sample);
		return r;
	}
	target->captured = true;
	sample->any_stopped += pmp_stopper_late_time(target->stopper);
	memcpy(sample->name, target->process.name, sizeof(sample->name));
	sort_threads(sample);
	sample->maps = pmp_kernel_maps(&target->kernel, target->maps,
				       &target->next_module_id);
	if (!sample->maps) {
		pmp_sample_free(sample);
		return pmp_error_nomem(err, "take a sample");
	}
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

