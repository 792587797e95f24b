/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recovery of a frame pointer. Stale frames that have not been overwritten lie between
 * live ones and look just as valid; so a record must be the only one with which everything
 * fits. If others cannot be excluded, there is no result.
 */
#include "capture/fp-recover.h"

#include <stdlib.h>
#include <string.h>

#define RECORD 16u	      /* a saved frame pointer and a return address */
#define TRIES_MAX 64	      /* records that are tried */
#define JUMPS_DEEP 3	      /* tail calls of tail calls */
#define JUMPS_MAX 4	      /* functions that are searched for one call */
#define JUMPS_CODE (4u << 10) /* bytes of each of them */
#define CODE_MAX (64u << 10)  /* largest function that is searched for its frame size */
#define PROLOGUE_MAX 256u
/* Costs, in units of pmp_unwinder_work() */
#define CODE_WORK 16 /* bytes of code searched in one unit */
#define CALL_WORK 32 /* of a frame and its call */

/* ---- calls ------------------------------------------------------------------------ */

static struct pmp_reader code_of(struct pmp_target *target)
{
	return (struct pmp_reader){ pmp_memory_read, target->memory };
}

static const struct pmp_region *code_region(const struct pmp_target *target, uint64_t pc)
{
	const struct pmp_region *region = pmp_maps_find(target->maps, pc);

	return region && (region->prot & PMP_PROT_EXEC) ? region : NULL;
}

/* A search for where tail calls may lead. */
struct trail {
	struct pmp_target *target;
	uint64_t start, end; /* the function being looked for */
	unsigned left;	     /* functions that may still be searched */
};

/*
 * May code of the function at `from` get there without a call: by a tail call, in a part
 * that the compiler split off, through a stub? True if that is unknown, or too costly to
 * find out.
 */
static bool may_jump(struct trail *trail, uint64_t from, int deep)
{
	struct pmp_target *target = trail->target;
	const struct pmp_reader code = code_of(target);
	struct pmp_rule rule;
	uint8_t bytes[JUMPS_CODE];
	struct pmp_arch_jump jump = { .code = bytes };

	if (deep == 0 || trail->left == 0 ||
	    !pmp_unwinder_rule(target->unwinder, from, true, &rule))
		return true;
	trail->left--;
	jump.address = rule.function_start;
	jump.length = rule.function_end - rule.function_start;
	if (jump.length > sizeof(bytes) ||
	    !pmp_read(&code, jump.address, bytes, jump.length))
		return true;
	pmp_unwinder_spend(target->unwinder, jump.length / CODE_WORK);
	while (pmp_arch_here->next_jump(&jump)) {
		if (!jump.target ||
		    (jump.target >= trail->start && jump.target < trail->end))
			return true;
		if (jump.target >= rule.function_start && jump.target < rule.function_end)
			continue;
		if (code_region(target, jump.target) &&
		    may_jump(trail, jump.target, deep - 1))
			return true;
	}
	return false;
}

/* Can the frame at pc have been called right before the return address `caller`? */
static bool call_fits(struct pmp_target *target, uint64_t pc, uint64_t caller)
{
	const struct pmp_region *region = code_region(target, caller);
	const struct pmp_reader code = code_of(target);
	struct trail trail = { .target = target, .left = JUMPS_MAX };
	struct pmp_rule rule;
	uint64_t called;

	pmp_unwinder_spend(target->unwinder, CALL_WORK);
	if (!region)
		return false;
	if (!pmp_arch_here->follows_call(&code, caller, &called))
		return region->module->kind == PMP_MODULE_ANON ||
		       pmp_arch_here->is_sigreturn(&code, caller);
	if (!called)
		return true;
	if (!pmp_unwinder_rule(target->unwinder, pc, true, &rule))
		return true;
	if (called == rule.function_start)
		return true;
	trail.start = rule.function_start;
	trail.end = rule.function_end;
	return may_jump(&trail, called, JUMPS_DEEP);
}

bool pmp_calls_fit(struct pmp_target *target, const struct pmp_walk *walk, size_t first)
{
	for (size_t i = first; i + 1 < walk->count; i++) {
		const struct pmp_raw_frame *frame = &walk->frames[i], *caller = frame + 1;

		/* An interrupted frame is not a call: nothing to check. */
		if (caller->flags & PMP_FRAME_EXACT)
			continue;
		if (!call_fits(target, frame->pc - !(frame->flags & PMP_FRAME_EXACT),
			       caller->pc))
			return false;
	}
	return !pmp_unwinder_is_spent(target->unwinder);
}

bool pmp_frame_is_fixed(struct pmp_target *target, const struct pmp_rule *rule)
{
	const struct pmp_reader code = code_of(target);
	uint64_t length = rule->function_end - rule->function_start;
	uint8_t *bytes = length <= CODE_MAX ? malloc(length) : NULL;
	bool fixed = bytes && pmp_read(&code, rule->function_start, bytes, length) &&
		     !pmp_arch_here->moves_sp(bytes, length);

	free(bytes);
	return fixed;
}

/* ---- recovery ---------------------------------------------------------------------- */

/* Does everything fit with this frame pointer? lax: reject it only if certain. */
static bool leads_home(struct pmp_target *target, struct pmp_stack_reader *reader,
		       const struct pmp_regs *regs, bool exact, uint64_t fp, bool lax)
{
	struct pmp_walk walk = { .frames = target->workspace.trial,
				 .limit = target->options.max_frames,
				 .from_caller = !exact,
				 .zero_ends = lax };
	struct pmp_regs with = *regs;

	pmp_regs_set(&with, pmp_arch_here->fp, fp);
	return pmp_stack_try(reader, &with, &walk) == 0 && walk.end == PMP_END_ROOT &&
	       walk.count > 1 && pmp_calls_fit(target, &walk, 0);
}

/* Offset of the return address of the frame at regs from its frame pointer. */
static bool return_slot(struct pmp_target *target, const struct pmp_regs *regs,
			bool exact, uint64_t *slot)
{
	uint64_t pc = pmp_regs_get(regs, pmp_arch_here->pc);
	struct pmp_rule rule;

	*slot = RECORD - 8;
	if (!pmp_unwinder_rule(target->unwinder, pc, exact, &rule) ||
	    rule.kind == PMP_RULE_LIBUNWIND)
		return true;
	if (rule.kind != PMP_RULE_FRAME || !rule.cfa_fp || rule.ra != PMP_WHERE_SAVED)
		return false;
	*slot = (uint64_t)((int64_t)rule.cfa_offset + rule.ra_offset);
	return *slot < CODE_MAX;
}

/* The frame pointer from sp and the frame size in the function's first instructions. */
static bool by_prologue(struct pmp_target *target, const struct pmp_regs *regs,
			bool exact, uint64_t *fp)
{
	const struct pmp_reader code = code_of(target);
	uint8_t bytes[PROLOGUE_MAX];
	struct pmp_rule rule;
	uint64_t size, length;

	if (!pmp_unwinder_rule(target->unwinder, pmp_regs_get(regs, pmp_arch_here->pc),
			       exact, &rule))
		return false;
	length = rule.function_end - rule.function_start;
	if (length > sizeof(bytes))
		length = sizeof(bytes);
	if (!pmp_read(&code, rule.function_start, bytes, length) ||
	    !pmp_arch_here->frame_size(bytes, length, &size) ||
	    !pmp_frame_is_fixed(target, &rule))
		return false;
	*fp = pmp_regs_get(regs, pmp_arch_here->sp) + size;
	return true;
}

/* The only place in the copied stack with which everything fits. */
static bool by_exclusion(struct pmp_target *target, struct pmp_stack_reader *reader,
			 const struct pmp_regs *regs, bool exact, uint64_t *fp)
{
	uint64_t pc = pmp_regs_get(regs, pmp_arch_here->pc),
		 sp = pmp_regs_get(regs, pmp_arch_here->sp);
	const struct pmp_region *stack = pmp_maps_find(target->maps, sp);
	const struct pmp_range *range = &reader->request->ranges[0];
	uint64_t slot, caller, first = sp - range->address;
	unsigned tries = 0, found = 0;

	if (sp % 8 || sp < range->address || first > range->got ||
	    !return_slot(target, regs, exact, &slot))
		return false;
	/* Loop over offsets, not addresses, which might wrap around. */
	for (uint64_t i = first; i + slot + 8 <= range->got && found < 2; i += 8) {
		uint64_t at = range->address + i;

		memcpy(&caller, range->data + i + slot, 8);
		caller = pmp_arch_code(pmp_arch_here, caller);
		if (!code_region(target, caller))
			continue;
		/* Too many to tell apart, and each takes time. */
		if (++tries > TRIES_MAX || pmp_unwinder_is_spent(target->unwinder))
			return false;
		if (!call_fits(target, pc - !exact, caller))
			continue;
		if (leads_home(target, reader, regs, exact, at, true)) {
			*fp = at;
			found++;
		}
		/* More of this stack is needed. A candidate that leads to other memory is
		 * not a stack. */
		if (reader->missed &&
		    pmp_maps_find(target->maps, reader->missed_address) == stack)
			return false;
		reader->missed = false;
	}
	return found == 1 && leads_home(target, reader, regs, exact, *fp, false);
}

bool pmp_fp_recover(struct pmp_target *target, struct pmp_stack_reader *reader,
		    const struct pmp_regs *regs, bool exact, uint64_t *fp)
{
	if (by_prologue(target, regs, exact, fp))
		return leads_home(target, reader, regs, exact, *fp, false);
	return by_exclusion(target, reader, regs, exact, fp);
}
