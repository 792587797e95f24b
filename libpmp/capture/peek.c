/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking at blocked threads: read first, then verify that the thread slept, then walk. */
#include "capture/peek.h"

#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "capture/fp-cache.h"
#include "capture/fp-recover.h"
#include "capture/wait.h"
#include "proc/maps.h"

#define PEEK_TRIES 5 /* with increasing copy sizes */
#define NO_GUESS SIZE_MAX
#define DISTANCE_MAX (1u << 20) /* largest distance learned */
#define FAULT_NAP 50		/* us: lets a thread run that is believed to sleep */

/* ---- learning -------------------------------------------------------------------- */

static bool needs_fp(struct pmp_target *target, const struct pmp_raw_frame *frame,
		     struct pmp_rule *rule)
{
	bool exact = frame->flags & PMP_FRAME_EXACT;

	if (!pmp_unwinder_rule(target->unwinder, frame->pc, exact, rule))
		return false;
	return rule->kind == PMP_RULE_LIBUNWIND ||
	       (rule->kind == PMP_RULE_FRAME && rule->cfa_fp);
}

static void learn(struct pmp_target *target, const struct pmp_raw_frame *frame,
		  uint64_t distance)
{
	struct pmp_rule rule;
	uint64_t known;

	switch (pmp_fp_cache_get(target->fp_cache, frame->pc, &known)) {
	case PMP_FP_NEVER: return;
	case PMP_FP_UNKNOWN:
		if (!needs_fp(target, frame, &rule))
			return;
		if (!pmp_frame_is_fixed(target, &rule) && !PMP_FAULT("learn-anything")) {
			pmp_fp_cache_forbid(target->fp_cache, frame->pc);
			return;
		}
		break;
	case PMP_FP_DISTANCE: break;
	}
	pmp_fp_cache_put(target->fp_cache, frame->pc, distance);
}

void pmp_peek_learn(struct pmp_target *target, const struct pmp_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		const struct pmp_frame_regs *regs = &walk->regs[i];
		uint64_t distance = regs->fp - regs->sp;

		if (regs->has_fp && regs->fp >= regs->sp && distance <= DISTANCE_MAX)
			learn(target, &walk->frames[i], distance);
	}
}

/* ---- peeking --------------------------------------------------------------------- */

/* One walk from a pc and an sp. */
struct peek {
	struct pmp_capture *capture;
	struct pmp_target *target; /* of that */
	struct pmp_stack_reader *reader;
	const struct pmp_walk *walk;
	bool may_learn; /* trust learned distances */
	size_t guess;	/* the frame whose frame pointer is a guess */
	uint64_t fp;
	uint64_t pc; /* of that frame, or of the one without a frame pointer */
	bool searched;
};

/*
 * Read the stack. It is as consistent as in a stop if the thread has not run since it was
 * found blocked, that is, if its run count is unchanged.
 */
static int read_asleep(struct pmp_target *target, struct pmp_work *work,
		       struct pmp_stop_request *request, struct pmp_kernel_stack *kernel)
{
	struct pmp_run_count after;
	bool slept;
	int r;

	request->ranges[0].address = work->peek.sp;
	if (PMP_FAULT("believe-peeks"))
		usleep(FAULT_NAP);
	for (size_t i = 0; i < request->range_count; i++) {
		struct pmp_range *range = &request->ranges[i];
		size_t room = pmp_maps_room(target->maps, range->address, range->want);
		ssize_t got = pmp_file_pread(target->process.mem, range->data, room,
					     range->address);

		range->got = got > 0 ? (size_t)got : 0;
	}
	kernel->count = 0;
	r = target->options.kernel ? pmp_kernel_read(&target->kernel, &target->process,
						     work->thread.tid, kernel)
				   : 0;
	pmp_wait_peek(target, work, &request->ranges[0]);
	if (r >= 0)
		r = pmp_watch_read(&target->watches, &target->process, work->watch,
				   &after);
	if (r < 0)
		return r;
	slept = after.value && after.value == work->run_count;
	if (slept || PMP_FAULT("believe-edges"))
		pmp_wait_prove(target, work);
	else
		work->thread.wait = (struct pmp_wait){ 0 };
	return slept || PMP_FAULT("believe-peeks");
}

static bool find_fp(void *arg, const struct pmp_regs *regs, size_t frame, uint64_t *fp)
{
	struct peek *peek = arg;
	struct pmp_target *target = peek->target;
	bool exact = peek->walk->frames[frame].flags & PMP_FRAME_EXACT;
	uint64_t distance;

	/* A second guess would depend on the first. */
	*fp = peek->fp;
	if (peek->guess != NO_GUESS)
		return peek->guess == frame;
	peek->pc = pmp_regs_get(regs, pmp_arch_here->pc);
	if (peek->may_learn &&
	    pmp_fp_cache_get(target->fp_cache, peek->pc, &distance) == PMP_FP_DISTANCE) {
		*fp = pmp_regs_get(regs, pmp_arch_here->sp) + distance;
	} else {
		peek->searched = true;
		if (!pmp_fp_recover(target, peek->reader, regs, exact, fp))
			return false;
	}
	peek->guess = frame;
	peek->fp = *fp;
	return true;
}

/* A guess is accepted only if it leads to the root, by calls that fit. */
static bool guess_holds(struct peek *peek, const struct pmp_walk *walk)
{
	return peek->guess == NO_GUESS ||
	       (walk->end == PMP_END_ROOT &&
		pmp_calls_fit(peek->target, walk, peek->guess));
}

static int walk_once(struct peek *peek, struct pmp_walk *walk)
{
	peek->walk = walk;
	peek->guess = NO_GUESS;
	peek->pc = 0;
	peek->searched = false;
	walk->find_fp = find_fp;
	walk->find_fp_arg = peek;
	return pmp_stack_walk(peek->capture, peek->reader, walk);
}

static int walk_asleep(struct peek *peek, struct pmp_walk *walk)
{
	int r;

	peek->may_learn = true;
	r = walk_once(peek, walk);
	if (r < 0 || guess_holds(peek, walk) || peek->searched)
		return r;
	if (peek->reader->missed && walk->end == PMP_END_UNREADABLE)
		return r;
	/* The learned distance is wrong here. */
	pmp_fp_cache_forbid(peek->target->fp_cache, peek->pc);
	peek->may_learn = false;
	return walk_once(peek, walk);
}

/* Did a stop in the same call find no more than this? */
static bool is_dead_end(const struct pmp_work *work, const struct pmp_walk *walk)
{
	const struct pmp_dead_end *end = &work->watch->dead_end;

	return walk->end == PMP_END_NO_INFO && end->pc && end->pc == work->peek.pc &&
	       end->sp == work->peek.sp && end->count == walk->count &&
	       end->last == walk->frames[walk->count - 1].pc &&
	       !PMP_FAULT("stop-in-vain");
}

int pmp_peek_wait(struct pmp_capture *capture, struct pmp_work *work)
{
	struct pmp_target *target = capture->target;
	struct pmp_stop_request request;
	struct pmp_kernel_stack kernel;
	int r;

	if (target->options.waits == PMP_WAITS_NONE || !work->run_count || !work->peek.pc)
		return 0;
	r = pmp_stack_prepare(&target->workspace, work, &request, 1);
	if (r >= 0)
		r = read_asleep(target, work, &request, &kernel);
	return r < 0 ? r : 0;
}

int pmp_peek(struct pmp_capture *capture, struct pmp_work *work,
	     struct pmp_reading *reading)
{
	struct pmp_target *target = capture->target;
	struct pmp_walk *walk = &reading->walk;
	struct pmp_stop_request request;
	struct pmp_stack_reader reader = { .target = target, .request = &request };
	struct peek peek = { .capture = capture, .target = target, .reader = &reader };
	int r = 0;

	*walk = (struct pmp_walk){ 0 };
	work->lacks = 0;
	for (int tries = 0; tries < PEEK_TRIES && work->run_count && work->peek.pc;
	     tries++) {
		r = pmp_stack_prepare(&target->workspace, work, &request, 1);
		if (r >= 0)
			r = read_asleep(target, work, &request, &reading->kernel);
		if (r <= 0)
			return r;
		reader.regs.valid = 0;
		pmp_regs_set(&reader.regs, pmp_arch_here->pc, work->peek.pc);
		pmp_regs_set(&reader.regs, pmp_arch_here->sp, work->peek.sp);
		r = walk_asleep(&peek, walk);
		if (r < 0)
			return r;
		if (reader.missed && walk->end != PMP_END_ROOT &&
		    walk->end != PMP_END_DEPTH) {
			if (pmp_stack_want_more(target, work->watch, &reader))
				continue;
			/* A stop would not copy more than this. */
			if (walk->end == PMP_END_UNREADABLE)
				walk->end = PMP_END_COPY;
		}
		pmp_stack_learn(work->watch, &reader);
		break;
	}
	if (walk->count == 0)
		return 0;
	if (!guess_holds(&peek, walk)) {
		walk->count = peek.guess + 1;
		walk->end = PMP_END_NO_INFO;
	}
	if (walk->end == PMP_END_ROOT || walk->end == PMP_END_DEPTH ||
	    walk->end == PMP_END_COPY || walk->end == PMP_END_GOROUTINE) {
		if (peek.guess != NO_GUESS)
			learn(target, &walk->frames[peek.guess],
			      peek.fp - walk->regs[peek.guess].sp);
		pmp_peek_learn(target, walk);
		return 1;
	}
	if (is_dead_end(work, walk))
		return 1;
	work->lacks = peek.pc;
	return 0;
}
