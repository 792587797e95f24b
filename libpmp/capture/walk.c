/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame by frame from the registers to the thread's first function. capture.c
 * calls this for each stack it has copied; what it gets are addresses only. No
 * thread is held meanwhile.
 *
 * Call-frame information decides wherever there is some. Code without any
 * (assembly, musl, JIT compilers) is crossed by rules that demand evidence: a
 * return address lies in executable memory and follows a call.
 */
#include "capture/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "capture/general.h"
#include "capture/image.h"

#define PLACES_LOG 13		/* pcs remembered */
#define PLACES (1u << PLACES_LOG)
#define JUMPS_MAX 64		/* times the stack may go down: signals, coroutines */
#define LEAF_REACH 4096		/* bytes of code from a leaf's first byte to its pc */
#define GO_ON PMP_END_COUNT	/* no end yet */

/* What is known about a pc, so that it is looked up once. */
enum how {
	HOW_UNKNOWN,		/* never seen */
	HOW_NONE,		/* no call-frame information */
	HOW_AT,			/* that of the pc itself */
	HOW_BEFORE,		/* that of pc - 1, where the call is */
	HOW_BAD,		/* some that makes no sense */
};

struct place {
	uint64_t pc;
	uint8_t how;
	bool exact;		/* as the pc of an exact frame */
	bool signal;
};

/* An executable region, and its image once it is needed. */
struct slot {
	uint64_t start, end, offset;
	uint32_t module;
	struct pmp_image *image;
};

struct pmp_unwinder {
	enum pmp_unwind mode;
	struct pmp_maps *maps;
	struct pmp_reader memory;
	struct slot *slots;	/* sorted */
	size_t slot_count;
	struct place places[PLACES];
	struct pmp_general *general;
	bool no_memory;
};

/* One stack being walked. */
struct walker {
	struct pmp_unwinder *unwinder;
	const struct pmp_reader *stack;
	struct pmp_regs regs;	/* of the frame in hand */
	bool exact;
	bool signal;		/* it has turned out to be a signal trampoline */
	uint64_t flags;		/* of the frame that the step has found */
	unsigned jumps;
};

/* ---- images -------------------------------------------------------------------- */

static struct slot *slot_find(struct slot *slots, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slots[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && slots[low].start <= address ? &slots[low] : NULL;
}

static void slots_free(struct slot *slots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pmp_image_free(slots[i].image);
	free(slots);
}

/* One slot for each executable region; images of those that are as before are kept. */
static int slots_renew(struct pmp_unwinder *unwinder, const struct pmp_maps *maps)
{
	struct slot *slots, *old;
	size_t count = 0;

	slots = calloc(maps->region_count + 1, sizeof(*slots));
	if (!slots)
		return PMP_ENOMEM;
	for (size_t i = 0; i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];

		if (!(region->prot & PMP_PROT_EXEC))
			continue;
		slots[count] = (struct slot){
			.start = region->start, .end = region->end,
			.offset = region->offset, .module = region->module->id,
		};
		old = slot_find(unwinder->slots, unwinder->slot_count, region->start);
		if (old && old->start == region->start && old->offset == region->offset &&
		    old->module == region->module->id) {
			slots[count].image = old->image;
			old->image = NULL;
		}
		count++;
	}
	slots_free(unwinder->slots, unwinder->slot_count);
	unwinder->slots = slots;
	unwinder->slot_count = count;
	return 0;
}

static bool find_fde(void *arg, uint64_t pc, struct pmp_fde *fde)
{
	struct pmp_unwinder *unwinder = arg;
	struct slot *slot = slot_find(unwinder->slots, unwinder->slot_count, pc);

	if (!slot)
		return false;
	if (!slot->image) {
		const struct pmp_region *region = pmp_maps_find(unwinder->maps, pc);

		if (region)
			slot->image = pmp_image_new(unwinder->maps, region);
		if (!slot->image) {
			unwinder->no_memory = true;
			return false;
		}
	}
	return pmp_image_find(slot->image, &unwinder->memory, pc, fde);
}

struct pmp_unwinder *pmp_unwinder_new(enum pmp_unwind mode)
{
	struct pmp_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->mode = mode;
	unwinder->general = pmp_general_new(find_fde, unwinder);
	if (!unwinder->general) {
		pmp_unwinder_free(unwinder);
		return NULL;
	}
	return unwinder;
}

void pmp_unwinder_free(struct pmp_unwinder *unwinder)
{
	if (!unwinder)
		return;
	pmp_general_free(unwinder->general);
	slots_free(unwinder->slots, unwinder->slot_count);
	pmp_maps_unref(unwinder->maps);
	free(unwinder);
}

int pmp_unwinder_set_maps(struct pmp_unwinder *unwinder, struct pmp_maps *maps,
			  const struct pmp_reader *memory)
{
	struct pmp_maps *old = unwinder->maps;

	unwinder->memory = *memory;
	if (old == maps)
		return 0;
	if (!old || (old->exec_generation != maps->exec_generation && !PMP_FAULT("stale-cache"))) {
		if (slots_renew(unwinder, maps))
			return PMP_ENOMEM;
		memset(unwinder->places, 0, sizeof(unwinder->places));
		pmp_general_flush(unwinder->general);
	}
	unwinder->maps = pmp_maps_ref(maps);
	pmp_maps_unref(old);
	return 0;
}

/* ---- what is at a pc -------------------------------------------------------------- */

static void place_fill(struct pmp_unwinder *unwinder, struct place *place)
{
	struct pmp_fde fde, next;
	uint64_t pc = place->pc;
	bool found = find_fde(unwinder, place->exact ? pc : pc - 1, &fde);

	place->how = place->exact ? HOW_AT : HOW_BEFORE;
	/*
	 * A return address on a function's first byte, behind no call, was put there
	 * by hand (makecontext, a signal restorer): pc - 1 is another function, or
	 * padding.
	 */
	if (!place->exact &&
	    (!found ||
	     (fde.end == pc && !pmp_arch_follows_call(&unwinder->memory, pc, NULL))) &&
	    find_fde(unwinder, pc, &next) && next.start == pc) {
		found = true;
		fde = next;
		place->how = HOW_AT;
	}
	if (!found)
		place->how = HOW_NONE;
	else if (!fde.data)
		place->how = HOW_BAD;
	else
		place->signal = fde.signal;
}

static const struct place *place_find(struct pmp_unwinder *unwinder, uint64_t pc,
				      bool exact)
{
	uint64_t hash = (pc ^ exact) * UINT64_C(0x9e3779b97f4a7c15);
	struct place *place = &unwinder->places[hash >> (64 - PLACES_LOG)];

	if (place->how == HOW_UNKNOWN || place->pc != pc || place->exact != exact) {
		*place = (struct place){ .pc = pc, .exact = exact };
		place_fill(unwinder, place);
	}
	return place;
}

static const struct pmp_region *code_region(const struct pmp_unwinder *unwinder,
					    uint64_t pc)
{
	const struct pmp_region *region = pmp_maps_find(unwinder->maps, pc);

	return region && region->prot & PMP_PROT_EXEC ? region : NULL;
}

/*
 * May this be a return address? In a file's code it must follow a call (*target
 * is then where a direct one goes, else 0) or be what a signal handler returns
 * to. JIT compilers make return addresses in other ways too: there, executable
 * memory has to do.
 */
static bool is_return(const struct pmp_unwinder *unwinder, uint64_t pc, uint64_t *target)
{
	const struct pmp_region *region = code_region(unwinder, pc);

	*target = 0;
	if (!region)
		return false;
	return pmp_arch_follows_call(&unwinder->memory, pc, target) ||
	       region->module->kind == PMP_MODULE_ANON ||
	       pmp_arch_is_sigreturn(&unwinder->memory, pc);
}

/* ---- code without call-frame information ------------------------------------------- */

static enum pmp_end take_caller(struct walker *w, const struct pmp_regs *caller)
{
	w->regs = *caller;
	w->flags = PMP_FRAME_FP;
	return GO_ON;
}

/* The return address is where a call has put it, but for what entry says. */
static bool entry_caller(const struct walker *w, const struct pmp_arch_entry *entry,
			 struct pmp_regs *caller, uint64_t *target)
{
	return pmp_arch_entry_caller(w->stack, &w->regs, entry, caller) &&
	       is_return(w->unwinder, pmp_regs_get(caller, pmp_reg_pc), target);
}

/* By the frame pointer: the saved one is where it points to, the return address
 * behind that. GO_ON: *caller is filled. */
static enum pmp_end chain_caller(const struct walker *w, struct pmp_regs *caller,
				 uint64_t *target)
{
	uint64_t fp, record[2], pc;

	if (!pmp_regs_has(&w->regs, pmp_reg_fp))
		return PMP_END_NO_INFO;
	fp = pmp_regs_get(&w->regs, pmp_reg_fp);
	if (fp == 0)
		return PMP_END_ROOT;
	if (fp % 8 || fp < pmp_regs_get(&w->regs, pmp_reg_sp))
		return PMP_END_NO_INFO;
	if (!pmp_read(w->stack, fp, record, sizeof(record)))
		return pmp_maps_find(w->unwinder->maps, fp) ? PMP_END_UNREADABLE
							    : PMP_END_NO_INFO;
	pc = pmp_arch_code(record[1]);
	if (pc == 0)
		return PMP_END_ROOT;
	if (!is_return(w->unwinder, pc, target))
		return PMP_END_NO_INFO;
	memset(caller, 0, sizeof(*caller));
	pmp_regs_set(caller, pmp_reg_pc, pc);
	pmp_regs_set(caller, pmp_reg_sp, fp + sizeof(record));
	pmp_regs_set(caller, pmp_reg_fp, record[0]);
	return GO_ON;
}

/*
 * An exact frame within a function: it may have no frame of its own (a leaf), or
 * one that the frame pointer tells of. A leaf's return address follows a call of
 * a function that begins shortly before pc. If that holds for both, the call whose
 * target is nearer has called the function that pc is in.
 */
static enum pmp_end leaf_step(struct walker *w, bool by_chain)
{
	const struct pmp_arch_entry nothing_pushed = { 0 };
	struct pmp_regs leaf, chain;
	uint64_t pc = pmp_regs_get(&w->regs, pmp_reg_pc), leaf_target, chain_target = 0;
	enum pmp_end end =
		by_chain ? chain_caller(w, &chain, &chain_target) : PMP_END_NO_INFO;

	if (!entry_caller(w, &nothing_pushed, &leaf, &leaf_target) || !leaf_target ||
	    pc - leaf_target >= LEAF_REACH)
		return end == GO_ON ? take_caller(w, &chain) : end;
	if (end == GO_ON && chain_target >= leaf_target && chain_target <= pc)
		return take_caller(w, &chain);
	return take_caller(w, &leaf);
}

static enum pmp_end signal_step(struct walker *w)
{
	struct pmp_regs victim;

	w->signal = true;
	if (!pmp_arch_signal_caller(w->stack, &w->regs, &victim))
		return PMP_END_UNREADABLE;
	w->regs = victim;
	w->flags = PMP_FRAME_EXACT;
	return GO_ON;
}

static enum pmp_end rule_step(struct walker *w)
{
	const struct pmp_unwinder *unwinder = w->unwinder;
	bool by_chain = unwinder->mode != PMP_UNWIND_CFI;
	uint64_t pc = pmp_regs_get(&w->regs, pmp_reg_pc), target;
	struct pmp_arch_entry entry = { 0 };
	struct pmp_regs caller;
	enum pmp_end end;

	if (!code_region(unwinder, pc)) {
		/* A wild or null function pointer has been called: nothing but the
		 * call has happened. */
		if (!w->exact || !entry_caller(w, &entry, &caller, &target))
			return PMP_END_NO_INFO;
		return take_caller(w, &caller);
	}
	if (pmp_arch_is_sigreturn(&unwinder->memory, pc))
		return signal_step(w);
	if (w->exact) {
		if (pmp_arch_entry(&unwinder->memory, pc, &entry) &&
		    entry_caller(w, &entry, &caller, &target))
			return take_caller(w, &caller);
		return leaf_step(w, by_chain);
	}
	end = by_chain ? chain_caller(w, &caller, &target) : PMP_END_NO_INFO;
	return end == GO_ON ? take_caller(w, &caller) : end;
}

/* ---- the walk ---------------------------------------------------------------------- */

static enum pmp_end info_step(struct walker *w, const struct place *place)
{
	static const enum pmp_end ends[] = {
		[PMP_GENERAL_STEP] = GO_ON,
		[PMP_GENERAL_ROOT] = PMP_END_ROOT,
		[PMP_GENERAL_UNREADABLE] = PMP_END_UNREADABLE,
		[PMP_GENERAL_UNKNOWN] = PMP_END_NO_INFO,
		[PMP_GENERAL_BAD] = PMP_END_BAD_INFO,
	};
	uint64_t keep = place->signal ? UINT64_MAX : pmp_arch_preserved;
	uint64_t lookup = place->pc - (place->how == HOW_BEFORE);
	bool by_hand = place->how == HOW_AT && !place->exact;
	enum pmp_end end;

	w->signal = place->signal;
	w->flags = place->signal ? PMP_FRAME_EXACT : 0;
	end = ends[pmp_general_step(w->unwinder->general, &w->regs, lookup, w->stack,
				    keep)];
	/* The bottom of a stack that makecontext() has made: behind it lies what
	 * looks like a return address only to the call-frame information. */
	if (end == GO_ON && by_hand &&
	    !code_region(w->unwinder, pmp_regs_get(&w->regs, pmp_reg_pc)))
		return PMP_END_ROOT;
	return end;
}

/* From the frame in w to its caller. */
static enum pmp_end step(struct walker *w)
{
	uint64_t pc = pmp_regs_get(&w->regs, pmp_reg_pc);
	const struct place *place;
	enum pmp_end end;

	w->signal = false;
	if (w->unwinder->mode == PMP_UNWIND_FP)
		return rule_step(w);
	place = place_find(w->unwinder, pc, w->exact);
	if (place->how == HOW_AT || place->how == HOW_BEFORE)
		return info_step(w, place);
	end = rule_step(w);
	return end == PMP_END_NO_INFO && place->how == HOW_BAD ? PMP_END_BAD_INFO : end;
}

/*
 * The stack grows down, so each caller's sp is higher. Where it is not, this is
 * another stack (a signal's, a coroutine's), or a circle.
 */
static bool is_progress(struct walker *w, const struct pmp_regs *from)
{
	const struct pmp_maps *maps = w->unwinder->maps;
	uint64_t old = pmp_regs_get(from, pmp_reg_sp),
		 sp = pmp_regs_get(&w->regs, pmp_reg_sp);

	if (sp > old)
		return true;
	/* aarch64: a leaf has nothing on the stack */
	if (sp == old && w->exact &&
	    pmp_regs_get(from, pmp_reg_pc) != pmp_regs_get(&w->regs, pmp_reg_pc))
		return true;
	if (!w->signal && pmp_maps_find(maps, sp) == pmp_maps_find(maps, old))
		return false;
	return ++w->jumps <= JUMPS_MAX;
}

/* To the next frame, or the reason why there is none. */
static enum pmp_end next(struct walker *w)
{
	struct pmp_regs from = w->regs;
	enum pmp_end end = step(w);

	if (end != GO_ON)
		return end;
	/* The victim of a signal may well have called a null pointer. */
	if (pmp_regs_get(&w->regs, pmp_reg_pc) == 0 && !w->signal)
		return PMP_END_ROOT;
	return is_progress(w, &from) ? GO_ON : PMP_END_LOOP;
}

bool pmp_unwinder_rule(struct pmp_unwinder *unwinder, uint64_t pc, bool exact,
		       struct pmp_rule *rule)
{
	const struct place *place = place_find(unwinder, pc, exact);

	memset(rule, 0, sizeof(*rule));
	rule->kind = place->how == HOW_NONE  ? PMP_RULE_NONE
		     : place->how == HOW_BAD ? PMP_RULE_BAD
					     : PMP_RULE_GENERAL;
	return rule->kind == PMP_RULE_GENERAL;
}

int pmp_walk(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
	     const struct pmp_reader *stack, struct pmp_walk *walk)
{
	struct walker w = {
		.unwinder = unwinder, .stack = stack, .regs = *regs,
		.exact = true, .flags = PMP_FRAME_EXACT,
	};
	enum pmp_end end = GO_ON;

	unwinder->no_memory = false;
	walk->count = 0;
	walk->top = 0;
	walk->needs_fp = false;
	while (end == GO_ON) {
		if (walk->count == walk->limit) {
			end = PMP_END_DEPTH;
			break;
		}
		walk->frames[walk->count++] = (struct pmp_raw_frame){
			.pc = pmp_regs_get(&w.regs, pmp_reg_pc), .flags = w.flags,
		};
		if (walk->regs)
			walk->regs[walk->count - 1] = (struct pmp_frame_regs){
				.sp = pmp_regs_get(&w.regs, pmp_reg_sp),
				.fp = pmp_regs_get(&w.regs, pmp_reg_fp),
				.has_fp = pmp_regs_has(&w.regs, pmp_reg_fp),
			};
		w.exact = w.flags & PMP_FRAME_EXACT;
		walk->top = pmp_regs_get(&w.regs, pmp_reg_sp);
		end = next(&w);
		if (w.signal)
			walk->frames[walk->count - 1].flags |= PMP_FRAME_SIGNAL;
	}
	walk->end = end;
	return unwinder->no_memory ? PMP_ENOMEM : 0;
}
