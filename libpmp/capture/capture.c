/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One capture of a process, from its list of threads to a sample:
 *
 *   watch.c: has the thread run since its last sample?
 *     -> no: its stack is the same
 *     -> it is blocked: peek.c reads it without a stop
 *     -> it runs, or the peek failed: batches of up to PMP_REQUEST_MAX
 *          -> stop.c holds, reads and releases
 *          -> walk.c unwinds from the copies; the threads run again
 *               -> the copy was too short: take a larger one in a later batch
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "capture/asleep.h"
#include "capture/heap-census.h"
#include "capture/holders.h"
#include "capture/maps-refresh.h"
#include "capture/peek.h"
#include "capture/recorder-frames.h"
#include "capture/recorder.h"
#include "capture/stack-copy.h"
#include "capture/stop-policy.h"
#include "capture/target.h"
#include "capture/wait.h"
#include "proc/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#define COPY_TRIES 5  /* stops of one thread per sample */
#define EXEC_TRIES 30 /* captures without a thread, 1 ms apart */
#define DISK_TRIES 3  /* peeks at a thread in D, 1 ms apart */
#define SPARE_TIME (10 * PMP_S)

/* ---- into the sample ------------------------------------------------------------------ */

static int emit(struct pmp_sample *sample, const struct pmp_thread *thread)
{
	return pmp_sample_copy_thread(sample, thread) ? 0 : PMP_ENOMEM;
}

/* Add a thread that has not run since it was read. */
static int emit_unchanged(struct pmp_sample *sample, const struct pmp_watch *watch)
{
	return pmp_sample_add_unchanged(sample, &watch->thread, watch->frames)
		       ? 0
		       : PMP_ENOMEM;
}

/* Make the stack look as without the recorder. */
static void hide_recorder(const struct pmp_target *target, struct pmp_walk *walk)
{
	const struct pmp_heap_process *process = NULL;

	if (target->options.recorder)
		process = pmp_recorder_process(target->options.recorder,
					       target->process.pid);
	if (process)
		walk->count =
			pmp_recorder_frames_hide(process, walk->frames, walk->count);
}

static int emit_work(struct pmp_capture *capture, struct pmp_work *work,
		     struct pmp_reading *reading)
{
	struct pmp_walk *walk = &reading->walk;
	struct pmp_sample *sample = capture->sample;
	int r;

	hide_recorder(capture->target, walk);
	work->thread.end = walk->end;
	work->thread.reading = ++capture->target->readings;
	r = emit(sample, &work->thread);
	if (r == 0)
		r = pmp_sample_add_frames(sample, reading->kernel.frames,
					  reading->kernel.count);
	return r < 0 ? r : pmp_sample_add_frames(sample, walk->frames, walk->count);
}

/* Add a thread that was read completely without a stop; its stack stays valid until it
 * runs. */
static int emit_peeked(struct pmp_capture *capture, struct pmp_work *work,
		       struct pmp_reading *reading)
{
	const struct pmp_sample *sample = capture->sample;
	const struct pmp_thread *added;
	int r;

	work->thread.sp = work->peek.sp;
	work->thread.obtained = PMP_PEEKED;
	work->thread.reason[0] = '\0';
	r = emit_work(capture, work, reading);
	if (r < 0)
		return r;
	added = &sample->threads[sample->thread_count - 1];
	return pmp_watch_keep(work->watch, work->run_count, &work->thread,
			      sample->frames + added->frame, added->frame_count);
}

/* Add a thread that was left alone, with the frames that are certain, or the one that
 * /proc shows. */
static int emit_not_stopped(struct pmp_capture *capture, struct pmp_work *work,
			    struct pmp_reading *reading)
{
	struct pmp_target *target = capture->target;
	struct pmp_walk *walk = &reading->walk;
	int r;

	reading->kernel.count = 0;
	if (target->options.kernel && work->thread.state != 'R') {
		r = pmp_kernel_read(&target->kernel, &target->process, work->thread.tid,
				    &reading->kernel);
		if (r < 0)
			return r;
	}
	if (!walk->count && work->peek.pc) {
		walk->frames = target->workspace.frames;
		walk->frames[0] =
			(struct pmp_raw_frame){ work->peek.pc, PMP_FRAME_EXACT };
		walk->count = 1;
	}
	walk->end = PMP_END_NOT_STOPPED;
	work->thread.obtained = PMP_NOT_STOPPED;
	work->thread.sp = work->peek.sp;
	return emit_work(capture, work, reading);
}

static int emit_one_frame(struct pmp_capture *capture, struct pmp_work *work)
{
	struct pmp_reading reading;

	reading.walk = (struct pmp_walk){ 0 };
	return emit_not_stopped(capture, work, &reading);
}

static int emit_unread(struct pmp_capture *capture, struct pmp_work *work,
		       const struct pmp_stop_request *request)
{
	const struct pmp_target *target = capture->target;
	char *reason = work->thread.reason;
	size_t size = sizeof(work->thread.reason);

	switch (request->result) {
	case PMP_REQUEST_GONE: capture->sample->vanished++; return 0;
	case PMP_REQUEST_LATE: snprintf(reason, size, "did not stop in time"); break;
	case PMP_REQUEST_REFUSED:
		if (pmp_thread_inspect(&target->process, request->tid,
				       target->options.no_wchan, &work->thread,
				       &work->peek) < 0 ||
		    pmp_thread_inspect_more(&target->process, request->tid, &work->peek) <
			    0) {
			capture->sample->vanished++;
			return 0;
		}
		if (work->peek.tracer)
			snprintf(reason, size, "traced by %d", (int)work->peek.tracer);
		else
			snprintf(reason, size, "%s", strerror(request->sys_errno));
		break;
	default: snprintf(reason, size, "%s", strerror(request->sys_errno)); break;
	}
	return emit_one_frame(capture, work);
}

/* The thread was peeked at before the stop. If it has left its call since, what was seen
 * of the call does not belong to this stack. */
static void see_call(struct pmp_thread *thread, const union pmp_user_regs *user)
{
	if (thread->syscall < 0 || pmp_user_regs_may_be_in(user, thread->syscall) ||
	    PMP_FAULT("stale-call"))
		return;
	thread->state = 'R';
	thread->syscall = PMP_SYSCALL_UNKNOWN;
	thread->wchan[0] = '\0';
	memset(thread->args, 0, sizeof(thread->args));
	memset(&thread->wait, 0, sizeof(thread->wait));
}

/* It waited for a processor, but not within a call: it was preempted. */
static void see_work(struct pmp_thread *thread, const union pmp_user_regs *user)
{
	if (pmp_user_regs_may_be_in(user, PMP_SYSCALL_NONE))
		thread->ready = 0;
}

/* If a stack in a call ends for lack of unwind information, another stop in the same call
 * is futile. */
static void see_dead_end(const struct pmp_work *work, const struct pmp_walk *walk)
{
	struct pmp_dead_end *end = &work->watch->dead_end;

	*end = (struct pmp_dead_end){ 0 };
	if (walk->end == PMP_END_NO_INFO && walk->count && work->thread.syscall >= 0)
		*end = (struct pmp_dead_end){ work->peek.pc, work->peek.sp,
					      walk->frames[walk->count - 1].pc,
					      walk->count };
}

#ifdef PMP_FAULTS
/* Believe that a stopped thread stays where it was. */
static int keep_stopped(struct pmp_target *target, const struct pmp_work *work,
			const struct pmp_walk *walk)
{
	struct pmp_run_count run_count;

	if (pmp_watch_read(&target->watches, &target->process, work->watch, &run_count) <
	    0)
		return 0;
	return pmp_watch_keep(work->watch, run_count.value, &work->thread, walk->frames,
			      walk->count);
}
#endif

/* On a tmpfs of older kernels (6.1) a stop undoes what the call has allocated so far; stopped
 * again and again it never ends: 300 MiB took 6.2 s, as long as pmp ran, in place of 2. */
static void see_fallocate(struct pmp_watch *watch, const struct pmp_stop_request *request)
{
	if (request->restarted && pmp_user_regs_may_be_in(&request->user, SYS_fallocate))
		watch->spared = pmp_clock() + SPARE_TIME;
}

/*
 * Unwind a thread that was held, and add it. Returns 1 if its copy was too
 * short and another try is worthwhile, 0 if it is in the sample, or an error.
 */
static int finish(struct pmp_capture *capture, struct pmp_work *work,
		  struct pmp_stop_request *request)
{
	struct pmp_target *target = capture->target;
	struct pmp_stack_reader reader = { .target = target, .request = request };
	struct pmp_reading reading;
	struct pmp_walk *walk = &reading.walk;
	int r;

	reading.kernel.count = 0;
	*walk = (struct pmp_walk){ 0 };

	work->thread.stopped += request->stopped;
	work->tries++;
	if (request->result != PMP_REQUEST_DONE)
		return emit_unread(capture, work, request);
	pmp_arch_regs(pmp_arch_here, request->user.words, &reader.regs);
	if (work->thread.syscall >= 0)
		pmp_user_regs_after_call(&reader.regs, work->peek.pc);
	r = pmp_stack_walk(capture, &reader, walk);
	if (r < 0)
		return r;
	if (reader.missed && walk->end != PMP_END_ROOT && walk->end != PMP_END_DEPTH) {
		if (work->tries < COPY_TRIES &&
		    pmp_stack_want_more(target, work->watch, &reader))
			return 1;
		if (walk->end == PMP_END_UNREADABLE)
			walk->end = PMP_END_COPY;
	}
	/* A truncated copy only shows that more is needed. */
	if (!request->cut || !reader.missed)
		pmp_stack_learn(work->watch, &reader);
	pmp_peek_learn(target, walk);
	work->thread.obtained = PMP_STOPPED;
	work->thread.tls = request->tls;
	work->thread.sp = pmp_user_regs_sp(&request->user);
	see_call(&work->thread, &request->user);
	see_dead_end(work, walk);
	see_fallocate(work->watch, request);
	see_work(&work->thread, &request->user);
	r = emit_work(capture, work, &reading);
	if (r >= 0)
		r = pmp_holder_stopped(target, request);
#ifdef PMP_FAULTS
	if (r == 0 && PMP_FAULT("base-from-stop"))
		r = keep_stopped(target, work, walk);
#endif
	return r;
}

/* ---- the threads ------------------------------------------------------------------------ */

/* What remains to be done with a thread. Errors are negative. */
enum remaining {
	DONE,	 /* it is in the sample, or left out of it */
	ON_DISK, /* in D, which may end soon */
	LATER,	 /* about to stop another thread that lacks the same frame pointer, which
		  * helps both */
	TO_STOP,
};

static bool is_wanted(struct pmp_target *target, const struct pmp_work *work)
{
	const struct pmp_target_options *options = &target->options;

	return !options->want_thread ||
	       options->want_thread(options->want_arg, work->thread.tid,
				    work->thread.name);
}

/* PMP_ESRCH is not an error: the thread has exited meanwhile. */
static int done(struct pmp_capture *capture, int r)
{
	if (r != PMP_ESRCH)
		return r < 0 ? r : DONE;
	capture->sample->vanished++;
	return DONE;
}

/* As pmp_watch_read(), but reads nothing for threads that provably have not run, unless
 * code has changed (pmp_watches_doubt()). */
static int read_run_count(const struct pmp_capture *capture, struct pmp_watch *watch,
			  struct pmp_run_count *run_count)
{
	struct pmp_target *target = capture->target;

	if (!capture->idle_proven || !watch->idle || !watch->proven)
		return pmp_watch_read(&target->watches, &target->process, watch,
				      run_count);
	*run_count = watch->last.run_count;
	run_count->value = watch->proven;
	return 0;
}

/* Read all of a thread except its stack, unless it has not run since its last sample. */
static int read_thread(struct pmp_capture *capture, size_t i, struct pmp_work *work)
{
	struct pmp_target *target = capture->target;
	struct pmp_sample *sample = capture->sample;
	struct pmp_watch *watch = target->watches.items[i];
	struct pmp_run_count run_count;
	int r;

	watch->met = target->number;
	r = read_run_count(capture, watch, &run_count);
	if (r == 0 && run_count.value && run_count.value == watch->proven &&
	    target->options.stop != PMP_STOP_ALL) {
		sample->skipped += watch->unwanted;
		return watch->unwanted ? DONE : emit_unchanged(sample, watch);
	}
	*work = (struct pmp_work){ .watch = watch, .run_count = run_count.value };
	watch->proven = 0;
	watch->changed = target->number;
	watch->changes++;
	work->thread.cpu = run_count.cpu;
	work->thread.runs = run_count.runs;
	if (r == 0)
		r = pmp_thread_inspect(&target->process, watch->tid,
				       target->options.no_wchan, &work->thread,
				       &work->peek);
	if (r < 0)
		return done(capture, r);
	watch->unwanted = !is_wanted(target, work);
	if (!watch->unwanted)
		return TO_STOP;
	/* It is blocked: its name stays the same as long as its run count does. */
	watch->proven = work->peek.pc ? work->run_count : 0;
	sample->skipped++;
	return DONE;
}

/* Is another thread with the same unknown frame pointer about to be stopped? */
static bool is_lacked(const struct pmp_work *works, size_t count, uint64_t pc)
{
	for (size_t i = 0; pc && i < count; i++)
		if (works[i].lacks == pc)
			return true;
	return false;
}

/* Returns 1: it is in the sample; 0: reading has what is certain; or an error. */
static int try_peek(struct pmp_capture *capture, struct pmp_work *work,
		    struct pmp_reading *reading)
{
	int r = work->peek.pc ? pmp_peek(capture, work, reading) : 0;

	if (r <= 0)
		return r;
	r = emit_peeked(capture, work, reading);
	return r < 0 ? r : 1;
}

/* Threads that wait for a processor are in state R, too. One that is on a processor has
 * been put there once more than it was taken off. */
static void see_ready(struct pmp_target *target, struct pmp_work *work)
{
	struct pmp_run_count run_count;

	if (work->thread.state != 'R' || PMP_FAULT("ready-runs") ||
	    pmp_watch_read(&target->watches, &target->process, work->watch, &run_count) <
		    0)
		return;
	work->thread.ready = run_count.runs && run_count.runs <= work->peek.switches;
}

/* Returns 1: yes; 0: no, work->thread.reason says why; or an error. */
static int may_stop(struct pmp_capture *capture, struct pmp_work *work)
{
	struct pmp_target *target = capture->target;
	int r;

	if (target->options.stop == PMP_STOP_NEVER) {
		snprintf(work->thread.reason, sizeof(work->thread.reason),
			 "--stop=never");
		return 0;
	}
	if (capture->deadline && pmp_clock() >= capture->deadline) {
		snprintf(work->thread.reason, sizeof(work->thread.reason), "time limit");
		return 0;
	}
	if (work->watch->spared && pmp_clock() < work->watch->spared) {
		snprintf(work->thread.reason, sizeof(work->thread.reason), "fallocate");
		return 0;
	}
	r = pmp_thread_inspect_more(&target->process, work->thread.tid, &work->peek);
	if (r < 0)
		return r;
	see_ready(target, work);
	return pmp_may_stop(&target->process, &work->thread, &work->peek);
}

/*
 * Take thread i without a stop, or return what to do with it. It becomes work number
 * count; the works before it are about to be stopped. last: there will be no further try.
 */
static int take_without_stop(struct pmp_capture *capture, size_t i, size_t count,
			     bool last)
{
	struct pmp_target *target = capture->target;
	bool together = target->options.stop == PMP_STOP_ALL;
	struct pmp_work *work = &target->workspace.works[count];
	struct pmp_reading reading;
	int r = read_thread(capture, i, work);

	if (r != TO_STOP)
		return r;
	r = pmp_maps_refresh_update(capture, capture->err);
	if (r < 0)
		return done(capture, r);
	if (work->watch->range_count == 0)
		pmp_stack_want_first(work->watch);
	reading.walk = (struct pmp_walk){ 0 };
	if (together)
		r = pmp_peek_wait(capture, work);
	else if (!PMP_FAULT("no-peek"))
		r = try_peek(capture, work, &reading);
	if (r)
		return done(capture, r);
	r = may_stop(capture, work);
	if (r > 0)
		return !last && is_lacked(target->workspace.works, count, work->lacks)
			       ? LATER
			       : TO_STOP;
	if (r == 0 && together)
		r = try_peek(capture, work, &reading);
	if (r)
		return done(capture, r);
	if (work->thread.state == 'D' && !last)
		return ON_DISK;
	return done(capture, emit_not_stopped(capture, work, &reading));
}

static int stop_batch(struct pmp_capture *capture, size_t count)
{
	struct pmp_target *target = capture->target;
	struct pmp_stop_request *requests = target->workspace.requests;
	int r = pmp_stack_prepare(&target->workspace, target->workspace.works, requests,
				  count);

	if (r < 0)
		return r;
	capture->sample->any_stopped +=
		target->options.stop == PMP_STOP_ALL
			? pmp_stop_together(target->stopper, target->maps, requests,
					    count)
			: pmp_stop_each(target->stopper, target->maps, requests, count);
	return 0;
}

static int reserve_works(struct pmp_workspace *workspace, size_t count)
{
	if (PMP_RESERVE(&workspace->works, &workspace->work_capacity, count) < 0 ||
	    PMP_RESERVE(&workspace->requests, &workspace->request_capacity, count) < 0)
		return PMP_ENOMEM;
	return 0;
}

/* Stop a batch and finish its threads; those that need a larger copy remain at
 * the front of the works. Returns how many do, or an error. */
static ssize_t run_batch(struct pmp_capture *capture, size_t count)
{
	const struct pmp_workspace *workspace = &capture->target->workspace;
	ssize_t again = 0;
	int r = stop_batch(capture, count);

	for (size_t i = 0; i < count && r >= 0; i++) {
		r = finish(capture, &workspace->works[i], &workspace->requests[i]);
		if (r == 1)
			workspace->works[again++] = workspace->works[i];
	}
	return r < 0 ? r : again;
}

/* Threads to take, by index, and those to peek at again. */
struct pass {
	size_t *todo, *later;
	size_t todo_count, later_count;
	bool on_disk; /* one of the latter is in D */
	bool last;
};

/* Take one thread after another, in batches. */
static int run_pass(struct pmp_capture *capture, struct pass *pass)
{
	size_t next = 0;
	ssize_t count = 0;
	int r = 0;

	pass->later_count = 0;
	pass->on_disk = false;
	while (r >= 0 && (next < pass->todo_count || count > 0)) {
		int remaining;

		/* A pending one may have stopped since. */
		pmp_stopper_reap(capture->target->stopper);
		if (next == pass->todo_count || count == PMP_REQUEST_MAX) {
			count = run_batch(capture, (size_t)count);
			if (count < 0)
				r = (int)count;
			continue;
		}
		remaining = take_without_stop(capture, pass->todo[next], (size_t)count,
					      pass->last);
		if (remaining < 0)
			r = remaining;
		else if (remaining == TO_STOP)
			count++;
		else if (remaining != DONE)
			pass->later[pass->later_count++] = pass->todo[next];
		pass->on_disk |= remaining == ON_DISK;
		next++;
	}
	return r;
}

/* Threads in D may wait for a disk for a moment, or forever. */
static int run_passes(struct pmp_capture *capture, struct pass *pass)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	int r = run_pass(capture, pass);

	for (int tries = 1; r >= 0 && pass->later_count > 0; tries++) {
		size_t *todo = pass->todo;

		pass->todo = pass->later;
		pass->todo_count = pass->later_count;
		pass->later = todo;
		pass->last = tries == DISK_TRIES;
		if (pass->on_disk)
			nanosleep(&nap, NULL);
		r = run_pass(capture, pass);
	}
	return r;
}

/* Take those of the listed threads that this capture has not read yet. */
static int take_listed(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	const struct pmp_watches *watches = &target->watches;
	size_t *indices = calloc(watches->count + 1, 2 * sizeof(*indices));
	struct pass pass = { .todo = indices };
	int r = indices ? reserve_works(&target->workspace, PMP_REQUEST_MAX) : PMP_ENOMEM;

	if (r >= 0) {
		pass.later = indices + watches->count;
		for (size_t i = 0; i < watches->count; i++)
			if (watches->items[i]->met != target->number)
				indices[pass.todo_count++] = i;
		r = run_passes(capture, &pass);
	}
	free(indices);
	return r;
}

/* Take all at one instant. If a copy was too short, repeat for all with the sizes
 * learned. */
static int take_together(struct pmp_capture *capture)
{
	struct pmp_workspace *workspace = &capture->target->workspace;
	struct pmp_sample *sample = capture->sample;
	size_t all = capture->target->watches.count, count = 0, threads, frames, vanished;
	int r = reserve_works(workspace, all + 1);

	for (size_t i = 0; i < all && r >= 0; i++) {
		r = take_without_stop(capture, i, count, true);
		count += r == TO_STOP;
	}
	threads = sample->thread_count;
	frames = sample->frame_count;
	vanished = sample->vanished;
	for (bool again = true; again && r >= 0;) {
		again = false;
		sample->thread_count = threads;
		sample->frame_count = frames;
		sample->vanished = vanished;
		workspace->lock_count = 0;
		r = stop_batch(capture, count);
		for (size_t i = 0; i < count && r >= 0; i++) {
			r = finish(capture, &workspace->works[i],
				   &workspace->requests[i]);
			again = again || r == 1;
		}
	}
	return r;
}

/* ---- a sample ------------------------------------------------------------------- */

struct place {
	pid_t tid;
	uint32_t at; /* in the sample */
};

static int by_tid(const void *a, const void *b)
{
	pid_t x = ((const struct place *)a)->tid, y = ((const struct place *)b)->tid;

	return (x > y) - (x < y);
}

/* Sort in place, cycle by cycle, moving each thread only once because they are large. */
static void move_threads(struct pmp_thread *threads, struct place *places, size_t count)
{
	for (size_t first = 0; first < count; first++) {
		struct pmp_thread moved = threads[first];
		size_t to = first;

		while (places[to].at != first) {
			size_t from = places[to].at;

			threads[to] = threads[from];
			places[to].at = (uint32_t)to;
			to = from;
		}
		threads[to] = moved;
		places[to].at = (uint32_t)to;
	}
}

/* Unstopped threads come first, then stopped ones, each in order: mostly there is only one
 * kind. */
static int sort_threads(struct pmp_sample *sample)
{
	size_t i = 1, count = sample->thread_count;
	struct place *places;

	while (i < count && sample->threads[i - 1].tid < sample->threads[i].tid)
		i++;
	if (i >= count)
		return 0;
	places = malloc(count * sizeof(*places));
	if (!places)
		return PMP_ENOMEM;
	for (i = 0; i < count; i++)
		places[i] = (struct place){ sample->threads[i].tid, (uint32_t)i };
	qsort(places, count, sizeof(*places), by_tid);
	move_threads(sample->threads, places, count);
	free(places);
	return 0;
}

/* If ptrace was refused for all threads, explain why instead of returning a useless
 * sample. */
static int check_refused(struct pmp_target *target, const struct pmp_sample *sample,
			 struct pmp_error *err)
{
	pid_t refused = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		if (thread->obtained != PMP_NOT_STOPPED)
			return 0;
		if (strcmp(thread->reason, strerror(EPERM)) == 0 ||
		    strncmp(thread->reason, "traced by ", 10) == 0)
			refused = thread->tid;
	}
	if (!refused || target->captured)
		return 0;
	return pmp_process_explain(&target->process, refused, EPERM, err);
}

static int list_threads(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	struct pmp_workspace *workspace = &target->workspace;
	size_t count;
	int r = pmp_threads_list(&target->process, &workspace->tids,
				 &workspace->tid_capacity, &count);

	if (r == PMP_ELIMIT)
		return pmp_error_sys(capture->err, PMP_ELIMIT, EMFILE,
				     "cannot list the threads of %d",
				     (int)target->process.pid);
	if (r >= 0)
		r = pmp_watches_renew(&target->watches, workspace->tids, count);
	if (r >= 0)
		capture->sample->seen = count;
	return r;
}

/* Has no thread run since the last sample, which already was in a standstill? Other
 * processes do not matter. */
static bool stands_still(const struct pmp_capture *capture)
{
	const struct pmp_target *target = capture->target;
	const struct pmp_sample *sample = capture->sample;

	return (capture->idle_proven || PMP_FAULT("believe-standstill")) &&
	       sample->old_standstill.number &&
	       sample->old_threads == target->watches.count &&
	       target->idle_set.count == target->watches.count &&
	       !target->looks_for_peers;
}

/*
 * If the kernel counts as many threads as are known, and all of these could be read, they
 * are the same: their run counts prove that they are alive. Listing them again would cost
 * as much as everything else.
 */
static int take_each(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	struct pmp_sample *sample = capture->sample;
	size_t vanished = sample->vanished, count = target->watches.count;
	bool known = count > 0 && pmp_threads_count(&target->process) == count;
	int r = 0;

	sample->seen = count;
	capture->idle_proven =
		known &&
		pmp_idle_set_prove(&target->idle_set, &target->watches, &target->process,
				   target->number, &target->log);
	if (known && stands_still(capture)) {
		pmp_sample_keep_still(sample);
		return 0;
	}
	if (known)
		r = take_listed(capture);
	if (r >= 0 && (!known || sample->vanished != vanished)) {
		capture->idle_proven = false;
		pmp_idle_set_forget(&target->idle_set);
		r = list_threads(capture);
		if (r >= 0)
			r = take_listed(capture);
	} else if (r >= 0 && !capture->idle_proven) {
		pmp_idle_set_learn(&target->idle_set, &target->watches);
	}
	return r;
}

static int list_and_take_together(struct pmp_capture *capture)
{
	int r = list_threads(capture);

	return r < 0 ? r : take_together(capture);
}

static int no_memory(const struct pmp_target *target, struct pmp_error *err)
{
	return pmp_error_set(err, PMP_ENOMEM, "not enough memory to take a sample of %d",
			     (int)target->process.pid);
}

static int take_threads(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	int r;

	target->number++;
	target->workspace.lock_count = 0;
	r = target->options.stop == PMP_STOP_ALL ? list_and_take_together(capture)
						 : take_each(capture);
	if (r == PMP_ESRCH)
		return pmp_target_gone(target, capture->err);
	if (r == PMP_ENOMEM)
		return no_memory(target, capture->err);
	/* All other errors have been reported where they occurred. */
	return r < 0 ? r : 0;
}

/* The maps tell where the heap is, so they must not be a second old. */
static int take_census(struct pmp_capture *capture)
{
	int r = capture->maps_fresh ? 0 : pmp_maps_refresh_now(capture, capture->err);

	return r < 0 ? r : pmp_heap_census(capture, capture->err);
}

static int fill(struct pmp_capture *capture)
{
	int r = pmp_maps_refresh_begin(capture, capture->err);

	if (r >= 0) {
		pmp_memory_tick(capture->target->memory);
		r = capture->target->options.census == PMP_CENSUS_NONE
			    ? take_threads(capture)
			    : take_census(capture);
	}
	if (r >= 0)
		pmp_maps_refresh_check(capture);
	if (r >= 0)
		pmp_maps_refresh_open(capture);
	if (capture->sample->thread_count == 0 && pmp_target_ended(capture->target))
		return pmp_target_gone(capture->target, capture->err);
	return r < 0 ? r : check_refused(capture->target, capture->sample, capture->err);
}

/* Most of a sample is like the previous one, so the previous one is reused if it has no
 * other owner. NULL: no memory. */
static struct pmp_sample *new_sample(struct pmp_target *target)
{
	struct pmp_sample *sample = target->last;

	target->last = NULL;
	if (sample && sample->refs == 1) {
		pmp_sample_clear(sample);
	} else {
		pmp_sample_free(sample);
		sample = pmp_sample_new();
	}
	if (!sample)
		return NULL;
	sample->pid = target->process.pid;
	sample->time = pmp_clock();
	sample->realtime = pmp_clock_realtime();
	pmp_process_owner_at(target->process.proc, &target->owner);
	sample->owner = target->owner;
	if (PMP_RESERVE(&sample->threads, &sample->thread_capacity,
			target->watches.count) == 0)
		return sample;
	pmp_sample_free(sample);
	return NULL;
}

/* Read what needs all threads to be known. 0 or PMP_ENOMEM. */
static int finish_threads(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	struct pmp_sample *sample = capture->sample;
	bool differs;

	if (!sample->standstill.number &&
	    (sort_threads(sample) || pmp_waits_finish(capture)))
		return PMP_ENOMEM;
	differs = pmp_asleep_finish(capture);
	if (differs)
		sample->standstill = (struct pmp_standstill){ 0 };
	else if (!sample->standstill.number && sample->thread_count == sample->seen &&
		 pmp_waits_stand_still(capture))
		pmp_sample_stand_still(sample, target->number);
	return 0;
}

/* Complete a sample that has all its threads. 0 or an error. */
static int complete(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	struct pmp_sample *sample = capture->sample;

	target->captured = true;
	pmp_process_owner_at(target->process.proc, &target->owner);
	if (target->owner != sample->owner)
		sample->owner = PMP_OWNERS;
	sample->execed = target->execed;
	target->execed = false;
	sample->any_stopped += pmp_stopper_pending_time(target->stopper);
	memcpy(sample->name, target->process.name, sizeof(sample->name));
	if (finish_threads(capture))
		return no_memory(target, capture->err);
	sample->maps =
		pmp_kernel_maps(&target->kernel, target->maps, &target->next_module_id);
	if (!sample->maps)
		return no_memory(target, capture->err);
	sample->duration = pmp_clock() - sample->time;
	PMP_LOG(&target->log, "capture", "%zu of %zu threads in %llu us, held %llu us",
		sample->thread_count, sample->seen,
		(unsigned long long)(sample->duration / PMP_US),
		(unsigned long long)(sample->any_stopped / PMP_US));
	return 0;
}

static int capture_once(struct pmp_target *target, uint64_t deadline,
			struct pmp_sample **out, struct pmp_error *err)
{
	struct pmp_capture capture = { .target = target,
				       .sample = new_sample(target),
				       .deadline = deadline,
				       .err = err };
	int r;

	if (!capture.sample)
		return no_memory(target, err);
	r = fill(&capture);
	if (r >= 0)
		r = complete(&capture);
	pmp_maps_refresh_forget(&capture);
	if (r < 0) {
		pmp_sample_free(capture.sample);
		return r;
	}
	target->last = pmp_sample_ref(capture.sample);
	*out = capture.sample;
	return r;
}

int pmp_target_capture(struct pmp_target *target, struct pmp_sample **out,
		       struct pmp_error *err)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };
	uint64_t deadline = 0;
	int r;

	*out = NULL;
	if (target->options.time_limit)
		deadline = pmp_clock() + target->options.time_limit;
	pmp_target_reap(target);
	/* During an exec a process can look as if it had exited, or could not be traced;
	 * and the exec may be waiting for us to reap a thread. */
	for (int tries = 1;; tries++) {
		if (pmp_target_ended(target))
			return pmp_target_gone(target, err);
		r = capture_once(target, deadline, out, err);
		if ((r != PMP_ESRCH && r != PMP_EPERM) || tries == EXEC_TRIES)
			return r;
		pmp_stopper_reap(target->stopper);
		nanosleep(&nap, NULL);
	}
}
