/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking at blocked threads: read, walk, and only then is it known to be true. */
#include "capture/look.h"

#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "capture/learn.h"
#include "capture/maps.h"
#include "capture/search.h"

#define LOOK_TRIES 5		/* with larger and larger copies */
#define NO_GUESS SIZE_MAX
#define DISTANCE_MAX (1u << 20)	/* of a frame that is learned */
#define FAULT_NAP 50		/* us: time to run for a thread that is believed to sleep */

/* ---- learning -------------------------------------------------------------------- */

static bool needs_fp(struct pmp_target *target, const struct pmp_raw_frame *frame,
		     struct pmp_rule *rule)
{
	bool exact = frame->flags & PMP_FRAME_EXACT;

	if (!pmp_unwinder_rule(target->unwinder, frame->pc, exact, rule))
		return false;
	return rule->kind == PMP_RULE_GENERAL ||
	       (rule->kind == PMP_RULE_FRAME && rule->cfa_fp);
}

static void learn(struct pmp_target *target, const struct pmp_raw_frame *frame,
		  uint64_t distance)
{
	struct pmp_rule rule;
	uint64_t known;

	switch (pmp_learned_get(target->learned, frame->pc, &known)) {
	case PMP_LEARNED_NEVER:
		return;
	case PMP_LEARNED_NOTHING:
		if (!needs_fp(target, frame, &rule))
			return;
		if (!pmp_frame_is_fixed(target, &rule) && !PMP_FAULT("learn-anything")) {
			pmp_learned_forbid(target->learned, frame->pc);
			return;
		}
		break;
	case PMP_LEARNED_DISTANCE:
		break;
	}
	pmp_learned_put(target->learned, frame->pc, distance);
}

void pmp_look_learn(struct pmp_target *target, const struct pmp_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		const struct pmp_frame_regs *regs = &walk->regs[i];
		uint64_t distance = regs->fp - regs->sp;

		if (regs->has_fp && regs->fp >= regs->sp && distance <= DISTANCE_MAX)
			learn(target, &walk->frames[i], distance);
	}
}

/* ---- looking --------------------------------------------------------------------- */

/* One walk from a pc and an sp. */
struct look {
	struct pmp_target *target;
	struct pmp_stack_reader *reader;
	const struct pmp_walk *walk;
	bool may_learn;		/* believe in what was learned */
	size_t guess;		/* the frame whose frame pointer is a guess */
	uint64_t fp;
	uint64_t pc;		/* of that frame, or of the one that has none */
	bool searched;
};

/*
 * Read the stack. It is as consistent as a stop would give if the thread has not run
 * since it was found blocked: if its mark is the same as before.
 */
static int read_asleep(struct pmp_target *target, struct pmp_work *work, struct pmp_hold *hold)
{
	struct pmp_mark after;
	int r;

	hold->ranges[0].address = work->look.sp;
	if (PMP_FAULT("believe-looks"))
		usleep(FAULT_NAP);
	for (size_t i = 0; i < hold->range_count; i++) {
		struct pmp_range *range = &hold->ranges[i];
		size_t room = pmp_maps_room(target->maps, range->address, range->want);
		ssize_t got = pmp_file_pread(target->process.mem, range->data, room,
					     range->address);

		range->got = got > 0 ? (size_t)got : 0;
	}
	r = target->options.kernel ? pmp_kernel_read(&target->kernel, &target->process,
						     work->thread.tid)
				   : 0;
	if (r >= 0)
		r = pmp_watch_read(&target->watches, &target->process, work->watch, &after);
	if (r < 0)
		return r;
	return PMP_FAULT("believe-looks") || (after.mark && after.mark == work->mark);
}

static bool find_fp(void *arg, const struct pmp_regs *regs, size_t frame, uint64_t *fp)
{
	struct look *look = arg;
	struct pmp_target *target = look->target;
	bool exact = look->walk->frames[frame].flags & PMP_FRAME_EXACT;
	uint64_t distance;

	/* A second guess would stand on the first. */
	*fp = look->fp;
	if (look->guess != NO_GUESS)
		return look->guess == frame;
	look->pc = pmp_regs_get(regs, pmp_reg_pc);
	if (look->may_learn && pmp_learned_get(target->learned, look->pc, &distance) ==
				       PMP_LEARNED_DISTANCE) {
		*fp = pmp_regs_get(regs, pmp_reg_sp) + distance;
	} else {
		look->searched = true;
		if (!pmp_search_fp(target, look->reader, regs, exact, fp))
			return false;
	}
	look->guess = frame;
	look->fp = *fp;
	return true;
}

/* A guess has to lead to the root, by calls that fit; else nothing stands on it. */
static bool guess_holds(struct look *look, const struct pmp_walk *walk)
{
	return look->guess == NO_GUESS ||
	       (walk->end == PMP_END_ROOT &&
		pmp_calls_fit(look->target, walk, look->guess));
}

static int walk_once(struct look *look, struct pmp_walk *walk)
{
	look->walk = walk;
	look->guess = NO_GUESS;
	look->pc = 0;
	look->searched = false;
	walk->find_fp = find_fp;
	walk->find_fp_arg = look;
	return pmp_stack_walk(look->target, look->reader, walk);
}

static int walk_asleep(struct look *look, struct pmp_walk *walk)
{
	int r;

	look->may_learn = true;
	r = walk_once(look, walk);
	if (r < 0 || guess_holds(look, walk) || look->searched)
		return r;
	if (look->reader->missed && walk->end == PMP_END_UNREADABLE)
		return r;
	/* What was learned is wrong here. */
	pmp_learned_forbid(look->target->learned, look->pc);
	look->may_learn = false;
	return walk_once(look, walk);
}

int pmp_look(struct pmp_target *target, struct pmp_work *work, struct pmp_walk *walk)
{
	struct pmp_stack_reader reader = { .target = target, .hold = &target->holds[0] };
	struct look look = { .target = target, .reader = &reader };
	int r = 0;

	*walk = (struct pmp_walk){ 0 };
	work->lacks = 0;
	for (int tries = 0; tries < LOOK_TRIES && work->mark && work->look.pc; tries++) {
		r = pmp_stack_prepare(target, work, 1);
		if (r >= 0)
			r = read_asleep(target, work, reader.hold);
		if (r <= 0)
			return r;
		reader.regs.valid = 0;
		pmp_regs_set(&reader.regs, pmp_reg_pc, work->look.pc);
		pmp_regs_set(&reader.regs, pmp_reg_sp, work->look.sp);
		r = walk_asleep(&look, walk);
		if (r < 0)
			return r;
		if (reader.missed && walk->end != PMP_END_ROOT && walk->end != PMP_END_DEPTH) {
			if (pmp_stack_want_more(target, work->watch, &reader))
				continue;
			/* A stop would copy no more than this. */
			if (walk->end == PMP_END_UNREADABLE)
				walk->end = PMP_END_COPY;
		}
		pmp_stack_learn(work->watch, &reader);
		break;
	}
	if (walk->count == 0)
		return 0;
	if (!guess_holds(&look, walk)) {
		walk->count = look.guess + 1;
		walk->end = PMP_END_NO_INFO;
	}
	if (walk->end == PMP_END_ROOT || walk->end == PMP_END_DEPTH ||
	    walk->end == PMP_END_COPY) {
		if (look.guess != NO_GUESS)
			learn(target, &walk->frames[look.guess],
			      look.fp - walk->regs[look.guess].sp);
		pmp_look_learn(target, walk);
		return 1;
	}
	work->lacks = look.pc;
	return 0;
}
