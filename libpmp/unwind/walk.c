/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame by frame from the registers to the thread's first function. Called for each copied
 * stack; finds only addresses. No thread is held meanwhile.
 *
 * Call-frame information is used wherever there is some: as a cached rule that cfa-rules.c
 * has derived for the pc, or, if no rule can express it, executed by libunwind
 * (libunwind.c). A rule yields only pc, sp and fp. If libunwind then needs another
 * register, the walk restarts with libunwind for every frame: that happens in assembly
 * (ld.so's resolver), and rarely.
 *
 * Code without any information (assembly, musl, JIT compilers) is crossed only with
 * evidence: a return address must be in executable memory and follow a call.
 */
#include "unwind/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/search.h"
#include "unwind/fde.h"
#include "unwind/go-rules.h"
#include "unwind/libunwind.h"
#include "unwind/sections.h"

#define CACHE_LOG 14 /* pcs remembered */
#define CACHE_SIZE (1u << CACHE_LOG)
#define WAYS 4		 /* slots that a pc can be in */
#define JUMPS_MAX 64	 /* how often sp may decrease: signals, coroutines */
#define LEAF_REACH 4096	 /* bytes of code from a leaf's first byte to its pc */
#define LIBUNWIND_WORK 8 /* times the work of making a rule */
#define READ_WORK 1	 /* for a word that libunwind reads */
#define STATE_WORK 128	 /* for a state in libunwind: at least two system calls */
#define KEPT_MAX ((uint64_t)64 << 20)	 /* bytes of call-frame information */
#define SEARCH_MAX ((uint64_t)256 << 20) /* bytes searched in total: about a second */
#define GO_ON PMP_END_COUNT		 /* no end yet */

/* A pc with its rule. */
struct cached_rule {
	uint64_t pc;
	struct pmp_rule rule;
	bool exact;  /* looked up for an exact frame */
	bool before; /* looked up at pc - 1, where the call is */
};

/* An executable region, and its FDE finder, made when first needed. */
struct executable {
	uint64_t start, end, offset; /* start must be first, see base/search.h */
	uint32_t module;
	struct pmp_fde_finder *finder;
	struct pmp_go_rules *go; /* NULL: not a Go program */
	bool go_tried;
};

struct pmp_unwinder {
	const struct pmp_arch *arch;
	enum pmp_unwind mode;
	struct pmp_maps *maps;
	struct pmp_reader memory;
	struct executable *executables; /* sorted */
	size_t executable_count;
	struct cached_rule cache[CACHE_SIZE]; /* sets of WAYS, each with the newest
					       * first */
	bool cached;			      /* any slot has been filled */
	struct pmp_libunwind *libunwind;
	bool no_rules; /* use libunwind for all: tests, measurements */
	bool no_memory;
	struct pmp_fde_shared shared;
	size_t work;	/* since the last outermost walk began */
	unsigned walks; /* nesting depth: find_fp() may walk, too */
	void (*beat)(void *arg);
	void *beat_arg;
};

/* One stack being walked. */
struct walker {
	struct pmp_unwinder *unwinder;
	const struct pmp_arch *arch;
	int pc, sp, fp; /* of arch */
	const struct pmp_reader *stack;
	const struct pmp_walk *walk;
	struct pmp_regs regs; /* of the current frame */
	bool exact;
	bool chained;	/* the frame pointer comes from a frame record */
	bool switched;	/* the step went to another stack, on purpose */
	bool signal;	/* the frame turned out to be a signal trampoline */
	uint64_t flags; /* of the frame that the step found */
	unsigned jumps;
	bool by_rules;
	bool dropped;  /* registers were lost that libunwind would have kept ... */
	bool again;    /* ... and now needs */
	bool needs_fp; /* the frame pointer was needed but unknown */
};

/* ---- executables ---------------------------------------------------------------- */

static struct executable *executable_find(struct executable *executables, size_t count,
					  uint64_t address)
{
	size_t i = pmp_search_after(executables, count, sizeof(*executables), address);

	return i && address < executables[i - 1].end ? &executables[i - 1] : NULL;
}

static void executable_free(struct executable *executable)
{
	pmp_fde_finder_free(executable->finder);
	pmp_go_rules_free(executable->go);
}

static void executables_free(struct executable *executables, size_t count)
{
	for (size_t i = 0; i < count; i++)
		executable_free(&executables[i]);
	free(executables);
}

/* One for each executable region; finders of unchanged regions are kept. */
static int executables_renew(struct pmp_unwinder *unwinder, const struct pmp_maps *maps)
{
	struct executable *executables, *old;
	size_t count = 0;

	executables = calloc(maps->region_count + 1, sizeof(*executables));
	if (!executables)
		return PMP_ENOMEM;
	for (size_t i = 0; i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];

		if (!(region->prot & PMP_PROT_EXEC))
			continue;
		executables[count] = (struct executable){
			.start = region->start,
			.end = region->end,
			.offset = region->offset,
			.module = region->module->id,
		};
		old = executable_find(unwinder->executables, unwinder->executable_count,
				      region->start);
		if (old && old->start == region->start && old->offset == region->offset &&
		    old->module == region->module->id) {
			executables[count].finder = old->finder;
			executables[count].go = old->go;
			executables[count].go_tried = old->go_tried;
			old->finder = NULL;
			old->go = NULL;
		}
		count++;
	}
	executables_free(unwinder->executables, unwinder->executable_count);
	unwinder->executables = executables;
	unwinder->executable_count = count;
	return 0;
}

bool pmp_unwinder_is_spent(const struct pmp_unwinder *unwinder)
{
	return unwinder->work > PMP_WALK_WORK_MAX;
}

void pmp_unwinder_spend(struct pmp_unwinder *unwinder, size_t work)
{
	unwinder->work += work;
}

/* The executable region that contains pc, with its finder. */
static struct executable *executable_at(struct pmp_unwinder *unwinder, uint64_t pc)
{
	struct executable *executable =
		executable_find(unwinder->executables, unwinder->executable_count, pc);
	const struct pmp_region *region;

	if (!executable || executable->finder)
		return executable;
	region = pmp_maps_find(unwinder->maps, pc);
	if (region)
		executable->finder = pmp_fde_finder_new(unwinder->arch, unwinder->maps,
							region, &unwinder->shared);
	if (executable->finder)
		return executable;
	unwinder->no_memory = true;
	return NULL;
}

/* Count the work done for sections of files as part of this walk. */
static void count_sections(struct pmp_unwinder *unwinder)
{
	unwinder->work += unwinder->shared.budget.work;
	unwinder->shared.budget.work = 0;
}

static bool find_fde(void *arg, uint64_t pc, struct pmp_fde *fde)
{
	struct pmp_unwinder *unwinder = arg;
	struct executable *executable = executable_at(unwinder, pc);
	bool found;

	if (!executable)
		return false;
	if (unwinder->beat)
		unwinder->beat(unwinder->beat_arg);
	found = pmp_fde_find(executable->finder, &unwinder->memory, pc, fde);
	unwinder->work += fde->work;
	count_sections(unwinder);
	return found;
}

static bool find_for_libunwind(void *arg, uint64_t pc, struct pmp_fde *fde)
{
	struct pmp_unwinder *unwinder = arg;
	bool found;

	if (pmp_unwinder_is_spent(unwinder))
		return false;
	found = find_fde(unwinder, pc, fde);
	unwinder->work += fde->work * LIBUNWIND_WORK;
	return found;
}

static bool allow_libunwind(void *arg, size_t states)
{
	struct pmp_unwinder *unwinder = arg;

	unwinder->work += states * STATE_WORK;
	return !states || !pmp_unwinder_is_spent(unwinder);
}

static bool may_read(void *arg)
{
	struct pmp_unwinder *unwinder = arg;

	unwinder->work += READ_WORK;
	return !pmp_unwinder_is_spent(unwinder);
}

void pmp_unwinder_set_beat(struct pmp_unwinder *unwinder, void (*beat)(void *arg),
			   void *arg)
{
	unwinder->beat = beat;
	unwinder->beat_arg = arg;
}

size_t pmp_unwinder_work(const struct pmp_unwinder *unwinder)
{
	return unwinder->work;
}

void pmp_unwinder_set_rules(struct pmp_unwinder *unwinder, bool use)
{
	unwinder->no_rules = !use;
}

struct pmp_unwinder *pmp_unwinder_new(const struct pmp_arch *arch, enum pmp_unwind mode)
{
	struct pmp_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->arch = arch;
	unwinder->mode = mode;
	unwinder->shared.budget =
		(struct pmp_section_budget){ .kept = KEPT_MAX, .search = SEARCH_MAX };
	if (arch != pmp_arch_here)
		return unwinder;
	unwinder->libunwind = pmp_libunwind_new(&(struct pmp_libunwind_caller){
		find_for_libunwind, allow_libunwind, may_read, unwinder });
	if (!unwinder->libunwind) {
		pmp_unwinder_free(unwinder);
		return NULL;
	}
	return unwinder;
}

void pmp_unwinder_free(struct pmp_unwinder *unwinder)
{
	if (!unwinder)
		return;
	pmp_libunwind_free(unwinder->libunwind);
	executables_free(unwinder->executables, unwinder->executable_count);
	pmp_fde_shared_free(&unwinder->shared);
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
	if (!old || (old->exec_generation != maps->exec_generation &&
		     !PMP_FAULT("stale-cache"))) {
		if (executables_renew(unwinder, maps))
			return PMP_ENOMEM;
		/* Untouched pages take no memory, so do not clear an unused cache. */
		if (unwinder->cached)
			memset(unwinder->cache, 0, sizeof(unwinder->cache));
		unwinder->cached = false;
		if (unwinder->libunwind)
			pmp_libunwind_flush(unwinder->libunwind);
	}
	unwinder->maps = pmp_maps_ref(maps);
	pmp_maps_unref(old);
	return 0;
}

void pmp_unwinder_forget(struct pmp_unwinder *unwinder)
{
	pmp_maps_unref(unwinder->maps);
	unwinder->maps = NULL;
}

/* ---- what is at a pc -------------------------------------------------------------- */

/* The rules for the Go code that contains pc, or NULL. */
static struct pmp_go_rules *find_go(struct pmp_unwinder *unwinder, uint64_t pc)
{
	struct executable *executable = executable_at(unwinder, pc);
	const struct pmp_region *region;
	uint64_t bias;

	if (!executable || executable->go_tried)
		return executable ? executable->go : NULL;
	executable->go_tried = true;
	region = pmp_maps_find(unwinder->maps, pc);
	if (region && region->module->kind == PMP_MODULE_FILE &&
	    pmp_fde_bias(executable->finder, &unwinder->memory, &bias))
		executable->go =
			pmp_go_rules_new(unwinder->arch, region->module->fd, bias,
					 &unwinder->memory, &unwinder->shared.budget);
	count_sections(unwinder);
	return executable->go;
}

/* Tried before call-frame information, because Go's does not tell when the stack is
 * switched. */
static bool fill_go_rule(struct pmp_unwinder *unwinder, struct cached_rule *cached)
{
	struct pmp_go_rules *go = find_go(unwinder, cached->pc - !cached->exact);

	if (!go || unwinder->arch->is_sigreturn(&unwinder->memory, cached->pc))
		return false;
	cached->before = !cached->exact;
	return pmp_go_rule(go, &unwinder->memory, cached->pc, cached->exact,
			   &cached->rule, &unwinder->work);
}

static void fill_rule(struct pmp_unwinder *unwinder, struct cached_rule *cached)
{
	struct pmp_fde fde, next;
	uint64_t pc = cached->pc;
	bool found;

	unwinder->cached = true;
	if (fill_go_rule(unwinder, cached))
		return;
	found = find_fde(unwinder, cached->exact ? pc : pc - 1, &fde);
	cached->before = !cached->exact;
	/*
	 * A return address at a function's first byte that does not follow a call was put
	 * there by hand (makecontext, a signal restorer): pc - 1 is in another function,
	 * or in padding.
	 */
	if (!cached->exact &&
	    (!found || (fde.end == pc &&
			!unwinder->arch->follows_call(&unwinder->memory, pc, NULL)))) {
		if (find_fde(unwinder, pc, &next) && next.start == pc) {
			found = true;
			fde = next;
			cached->before = false;
		} else if (found) {
			/* The second lookup has overwritten the first one's programs. */
			found = find_fde(unwinder, pc - 1, &fde);
		}
	}
	cached->rule.kind = PMP_RULE_NONE;
	if (!found)
		return;
	if (fde.understood)
		pmp_rule_make(&fde.cie, &fde.entry, pc - cached->before, &cached->rule);
	else
		cached->rule.kind = PMP_RULE_BAD;
	/* Code of another architecture: fall back to the frame pointer. */
	if (cached->rule.kind == PMP_RULE_LIBUNWIND && !unwinder->libunwind)
		cached->rule.kind = PMP_RULE_NONE;
	if (cached->rule.signal && unwinder->arch->is_sigreturn(&unwinder->memory, pc))
		cached->rule.kind = PMP_RULE_SIGNAL;
}

/* Returns a copy, because the cache may change while a frame's caller is found. False: not
 * cached, and the work limit for this stack has been reached. */
static bool find_rule(struct pmp_unwinder *unwinder, uint64_t pc, bool exact,
		      struct cached_rule *cached)
{
	size_t hash = pmp_hash_bits(pc ^ exact, CACHE_LOG);
	struct cached_rule *set = &unwinder->cache[hash & ~(WAYS - 1u)];

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].pc != pc || set[i].exact != exact ||
		    set[i].rule.kind == PMP_RULE_UNKNOWN)
			continue;
		*cached = set[i];
		return true;
	}
	if (pmp_unwinder_is_spent(unwinder))
		return false;
	memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
	*set = (struct cached_rule){ .pc = pc, .exact = exact };
	fill_rule(unwinder, set);
	*cached = *set;
	return true;
}

bool pmp_unwinder_rule(struct pmp_unwinder *unwinder, uint64_t pc, bool exact,
		       struct pmp_rule *rule)
{
	struct cached_rule cached;

	*rule = find_rule(unwinder, pc, exact, &cached)
			? cached.rule
			: (struct pmp_rule){ .kind = PMP_RULE_BAD };
	return rule->kind != PMP_RULE_NONE && rule->kind != PMP_RULE_BAD;
}

static const struct pmp_region *code_region(const struct pmp_unwinder *unwinder,
					    uint64_t pc)
{
	const struct pmp_region *region = pmp_maps_find(unwinder->maps, pc);

	return region && region->prot & PMP_PROT_EXEC ? region : NULL;
}

/*
 * May this be a return address? In a file's code it must follow a call (*target
 * is then the destination of a direct one, else 0) or be what a signal handler
 * returns to. JIT compilers also make return addresses in other ways: there,
 * being in executable memory must suffice.
 */
static bool is_return(const struct pmp_unwinder *unwinder, uint64_t pc, uint64_t *target)
{
	const struct pmp_region *region = code_region(unwinder, pc);

	*target = 0;
	if (!region)
		return false;
	return unwinder->arch->follows_call(&unwinder->memory, pc, target) ||
	       region->module->kind == PMP_MODULE_ANON ||
	       unwinder->arch->is_sigreturn(&unwinder->memory, pc);
}

/* Get the frame pointer, if it is known or find_fp() finds it. */
static bool want_fp(struct walker *w)
{
	const struct pmp_walk *walk = w->walk;
	uint64_t fp;

	if (pmp_regs_has(&w->regs, w->fp))
		return true;
	if (!walk->find_fp ||
	    !walk->find_fp(walk->find_fp_arg, &w->regs, walk->count - 1, &fp)) {
		w->needs_fp = true;
		return false;
	}
	pmp_regs_set(&w->regs, w->fp, fp);
	return true;
}

/* ---- code without call-frame information ------------------------------------------- */

static enum pmp_end take_caller(struct walker *w, const struct pmp_regs *caller,
				bool chained)
{
	w->regs = *caller;
	w->chained = chained;
	w->flags = PMP_FRAME_FP;
	return GO_ON;
}

/* The return address is where the call put it, adjusted for what entry tells. */
static bool entry_caller(const struct walker *w, const struct pmp_arch_entry *entry,
			 struct pmp_regs *caller, uint64_t *target)
{
	return w->arch->entry_caller(w->stack, &w->regs, entry, caller) &&
	       is_return(w->unwinder, pmp_regs_get(caller, w->pc), target);
}

/* Is a frame pointer of 0 the end? If functions do not set it, it may just be left from
 * the start of the thread. */
static bool ends_chain(const struct walker *w)
{
	const struct pmp_region *region =
		code_region(w->unwinder, pmp_regs_get(&w->regs, w->pc));

	return w->chained || w->walk->zero_ends || w->unwinder->mode == PMP_UNWIND_FP ||
	       (region && region->module->kind != PMP_MODULE_FILE);
}

/* Use the frame pointer: it points to the saved one, followed by the return address.
 * GO_ON: *caller is filled. */
static enum pmp_end chain_caller(struct walker *w, struct pmp_regs *caller,
				 uint64_t *target)
{
	uint64_t fp, record[2], pc;

	if (!want_fp(w))
		return PMP_END_NO_INFO;
	fp = pmp_regs_get(&w->regs, w->fp);
	if (fp == 0)
		return ends_chain(w) ? PMP_END_ROOT : PMP_END_NO_INFO;
	if (fp % 8 || fp < pmp_regs_get(&w->regs, w->sp))
		return PMP_END_NO_INFO;
	if (!pmp_read(w->stack, fp, record, sizeof(record)))
		return pmp_maps_find(w->unwinder->maps, fp) ? PMP_END_UNREADABLE
							    : PMP_END_NO_INFO;
	pc = pmp_arch_code(w->arch, record[1]);
	if (pc == 0)
		return PMP_END_ROOT;
	if (!is_return(w->unwinder, pc, target))
		return PMP_END_NO_INFO;
	memset(caller, 0, sizeof(*caller));
	pmp_regs_set(caller, w->pc, pc);
	pmp_regs_set(caller, w->sp, fp + sizeof(record));
	pmp_regs_set(caller, w->fp, record[0]);
	return GO_ON;
}

/*
 * An exact frame within a function may have no frame of its own (a leaf), or one that the
 * frame pointer points to. A leaf's return address follows a call of a function that
 * begins shortly before pc. If both fit, the call whose target is nearer to pc is the
 * right one.
 */
static enum pmp_end leaf_step(struct walker *w, bool by_chain)
{
	const struct pmp_arch_entry nothing_pushed = { 0 };
	struct pmp_regs leaf, chain;
	uint64_t pc = pmp_regs_get(&w->regs, w->pc), leaf_target, chain_target = 0;
	enum pmp_end end =
		by_chain ? chain_caller(w, &chain, &chain_target) : PMP_END_NO_INFO;

	if (!entry_caller(w, &nothing_pushed, &leaf, &leaf_target) || !leaf_target ||
	    pc - leaf_target >= LEAF_REACH)
		return end == GO_ON ? take_caller(w, &chain, true) : end;
	if (end == GO_ON && chain_target >= leaf_target && chain_target <= pc)
		return take_caller(w, &chain, true);
	return take_caller(w, &leaf, false);
}

static enum pmp_end signal_step(struct walker *w)
{
	struct pmp_regs victim;

	w->signal = true;
	if (!w->arch->signal_caller(w->stack, &w->regs, &victim))
		return PMP_END_UNREADABLE;
	w->regs = victim;
	w->chained = false;
	w->flags = PMP_FRAME_EXACT;
	w->dropped = false;
	return GO_ON;
}

static enum pmp_end no_info_step(struct walker *w)
{
	const struct pmp_unwinder *unwinder = w->unwinder;
	bool by_chain = unwinder->mode != PMP_UNWIND_CFI;
	uint64_t pc = pmp_regs_get(&w->regs, w->pc), target;
	struct pmp_arch_entry entry = { 0 };
	struct pmp_regs caller;
	enum pmp_end end;

	if (!code_region(unwinder, pc)) {
		/* A wild or null function pointer was called: nothing has happened since
		 * the call. */
		if (!w->exact || !entry_caller(w, &entry, &caller, &target))
			return PMP_END_NO_INFO;
		return take_caller(w, &caller, false);
	}
	if (unwinder->arch->is_sigreturn(&unwinder->memory, pc))
		return signal_step(w);
	if (w->exact) {
		if (unwinder->arch->entry(&unwinder->memory, pc, &entry) &&
		    entry_caller(w, &entry, &caller, &target))
			return take_caller(w, &caller, false);
		return leaf_step(w, by_chain);
	}
	end = by_chain ? chain_caller(w, &caller, &target) : PMP_END_NO_INFO;
	return end == GO_ON ? take_caller(w, &caller, true) : end;
}

/* ---- the walk ---------------------------------------------------------------------- */

/* A step with libunwind. */
static enum pmp_end libunwind_step(struct walker *w, const struct cached_rule *cached)
{
	static const enum pmp_end ends[] = {
		[PMP_LIBUNWIND_STEP] = GO_ON,
		[PMP_LIBUNWIND_ROOT] = PMP_END_ROOT,
		[PMP_LIBUNWIND_UNREADABLE] = PMP_END_UNREADABLE,
		[PMP_LIBUNWIND_UNKNOWN] = PMP_END_NO_INFO,
		[PMP_LIBUNWIND_BAD] = PMP_END_BAD_INFO,
	};
	uint64_t keep = cached->rule.signal ? UINT64_MAX : w->arch->preserved;
	uint64_t lookup = cached->pc - cached->before;
	enum pmp_libunwind_result result;
	int needed;

	w->signal = cached->rule.signal;
	w->flags = w->signal ? PMP_FRAME_EXACT : 0;
	if (w->unwinder->beat)
		w->unwinder->beat(w->unwinder->beat_arg);
	do {
		result = pmp_libunwind_step(w->unwinder->libunwind, &w->regs, lookup,
					    w->stack, keep, &needed);
	} while (result == PMP_LIBUNWIND_UNKNOWN && needed == w->fp &&
		 !pmp_regs_has(&w->regs, w->fp) && want_fp(w));
	if (result == PMP_LIBUNWIND_STEP && w->signal)
		w->dropped = false;
	w->again = result == PMP_LIBUNWIND_UNKNOWN && needed != w->fp && w->dropped;
	return ends[result];
}

/* The signal handler pushed the link register, and replaced it by the pc. */
static bool pop_link(struct walker *w)
{
	uint64_t sp = pmp_regs_get(&w->regs, w->sp), link;

	if (!pmp_read(w->stack, sp, &link, sizeof(link)))
		return false;
	pmp_regs_set(&w->regs, w->arch->link, link);
	pmp_regs_set(&w->regs, w->sp, sp + 2 * sizeof(link));
	return true;
}

/* A step with a rule. */
static enum pmp_end frame_step(struct walker *w, const struct pmp_rule *rule)
{
	if (rule->cfa_fp && !want_fp(w))
		return PMP_END_NO_INFO;
	if (rule->ra == PMP_WHERE_SAME && !pmp_regs_has(&w->regs, w->arch->link))
		return PMP_END_NO_INFO;
	w->flags = rule->injected ? PMP_FRAME_EXACT : 0;
	w->dropped = true;
	if (!pmp_rule_apply(w->arch, rule, w->stack, &w->regs))
		return PMP_END_UNREADABLE;
	if (!rule->injected || w->arch->link == w->pc)
		return GO_ON;
	return pop_link(w) ? GO_ON : PMP_END_UNREADABLE;
}

/* Step to the goroutine on whose behalf a function runs on the thread's own stack. */
static enum pmp_end goroutine_step(struct walker *w, const struct cached_rule *cached)
{
	struct pmp_unwinder *unwinder = w->unwinder;
	struct pmp_go_rules *go = find_go(unwinder, cached->pc - cached->before);

	/* In a peek the frame pointer is unknown. */
	if (!cached->exact && !want_fp(w))
		return PMP_END_NO_INFO;
	if (pmp_unwinder_is_spent(unwinder))
		return PMP_END_BAD_INFO;
	if (!go || cached->exact ||
	    !pmp_go_join(go, &unwinder->memory, w->stack, cached->rule.function_start,
			 &w->regs, &unwinder->work))
		return PMP_END_GOROUTINE;
	w->flags = 0;
	w->dropped = true;
	w->switched = true;
	return GO_ON;
}

static enum pmp_end info_step(struct walker *w, const struct cached_rule *cached)
{
	bool by_hand = !cached->exact && !cached->before;
	/* libunwind takes an undefined frame pointer for the end of the stack. */
	bool with_libunwind =
		!w->by_rules && !cached->rule.go && cached->rule.fp != PMP_WHERE_LOST;
	/* On such architectures libunwind takes the victim's link register for its pc. */
	bool has_link = w->arch->link != w->pc;
	enum pmp_end end;

	if (has_link && cached->rule.kind == PMP_RULE_SIGNAL)
		end = signal_step(w);
	else if (cached->rule.kind == PMP_RULE_SWITCH)
		end = goroutine_step(w, cached);
	else if (with_libunwind || cached->rule.kind == PMP_RULE_LIBUNWIND)
		end = libunwind_step(w, cached);
	else if (cached->rule.kind == PMP_RULE_FRAME)
		end = frame_step(w, &cached->rule);
	else if (cached->rule.kind == PMP_RULE_SIGNAL)
		end = signal_step(w);
	else
		end = PMP_END_ROOT;
	/* It was not called, so the register in which a call would leave the
	 * return address has none. */
	if (end == PMP_END_NO_INFO && by_hand && cached->rule.ra == PMP_WHERE_SAME)
		return PMP_END_ROOT;
	/* The bottom of a stack made by makecontext(): what call-frame
	 * information takes for a return address there is not one. */
	if (end == GO_ON && by_hand &&
	    !code_region(w->unwinder, pmp_regs_get(&w->regs, w->pc)))
		return PMP_END_ROOT;
	return end;
}

/* Step from the frame in w to its caller. */
static enum pmp_end step(struct walker *w)
{
	uint64_t pc = pmp_regs_get(&w->regs, w->pc);
	struct cached_rule cached;
	enum pmp_end end;

	w->signal = false;
	w->switched = false;
	w->needs_fp = false;
	if (w->unwinder->mode == PMP_UNWIND_FP)
		return no_info_step(w);
	if (!find_rule(w->unwinder, pc, w->exact, &cached))
		return PMP_END_BAD_INFO;
	if (cached.rule.kind != PMP_RULE_NONE && cached.rule.kind != PMP_RULE_BAD) {
		w->chained = false;
		return info_step(w, &cached);
	}
	end = no_info_step(w);
	return end == PMP_END_NO_INFO && cached.rule.kind == PMP_RULE_BAD
		       ? PMP_END_BAD_INFO
		       : end;
}

/*
 * The stack grows down, so each caller's sp is higher. If it is not, this is
 * another stack (a signal's, a coroutine's), or a loop.
 */
static bool is_progress(struct walker *w, uint64_t old_pc, uint64_t old_sp)
{
	const struct pmp_maps *maps = w->unwinder->maps;
	uint64_t sp = pmp_regs_get(&w->regs, w->sp);

	if (sp > old_sp)
		return true;
	/* aarch64: a leaf has nothing on the stack */
	if (sp == old_sp && w->exact && pmp_regs_get(&w->regs, w->pc) != old_pc)
		return true;
	if (!w->signal && !w->switched &&
	    pmp_maps_find(maps, sp) == pmp_maps_find(maps, old_sp))
		return false;
	return ++w->jumps <= JUMPS_MAX;
}

/* Go to the next frame, or return why there is none. */
static enum pmp_end next(struct walker *w)
{
	uint64_t pc = pmp_regs_get(&w->regs, w->pc), sp = pmp_regs_get(&w->regs, w->sp);
	enum pmp_end end = step(w);

	if (end != GO_ON)
		return end;
	/* The victim of a signal may have called a null pointer. */
	if (pmp_regs_get(&w->regs, w->pc) == 0 && !w->signal)
		return PMP_END_ROOT;
	return is_progress(w, pc, sp) ? GO_ON : PMP_END_LOOP;
}

static void add_frame(struct walker *w, struct pmp_walk *walk)
{
	size_t i = walk->count++;

	walk->top = pmp_regs_get(&w->regs, w->sp);
	walk->frames[i] = (struct pmp_raw_frame){
		.pc = pmp_regs_get(&w->regs, w->pc),
		.flags = w->flags,
	};
	if (!walk->regs)
		return;
	walk->regs[i] = (struct pmp_frame_regs){ .sp = walk->top };
	walk->regs[i].has_fp = pmp_regs_has(&w->regs, w->fp);
	if (walk->regs[i].has_fp)
		walk->regs[i].fp = pmp_regs_get(&w->regs, w->fp);
}

/* False: restart without rules. */
static bool walk_once(struct walker *w, struct pmp_walk *walk)
{
	enum pmp_end end = GO_ON;

	walk->count = 0;
	walk->top = 0;
	while (end == GO_ON && walk->count < walk->limit) {
		add_frame(w, walk);
		w->exact = w->flags & PMP_FRAME_EXACT;
		end = next(w);
		if (w->signal)
			walk->frames[walk->count - 1].flags |= PMP_FRAME_SIGNAL;
	}
	walk->end = end == GO_ON ? PMP_END_DEPTH : end;
	walk->needs_fp = w->needs_fp && end != GO_ON;
	return !w->again;
}

static void walk_stack(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
		       const struct pmp_reader *stack, struct pmp_walk *walk)
{
	const struct walker start = {
		.unwinder = unwinder,
		.arch = unwinder->arch,
		.pc = unwinder->arch->pc,
		.sp = unwinder->arch->sp,
		.fp = unwinder->arch->fp,
		.stack = stack,
		.walk = walk,
		.regs = *regs,
		.exact = !walk->from_caller,
		.flags = walk->from_caller ? 0 : PMP_FRAME_EXACT,
		.by_rules = !unwinder->no_rules || !unwinder->libunwind,
	};
	struct walker w = start;

	if (walk_once(&w, walk))
		return;
	w = start;
	w.by_rules = false;
	walk_once(&w, walk);
}

#ifdef PMP_FAULTS

static size_t describe(const struct pmp_walk *walk, const char *name, char *text,
		       size_t size)
{
	size_t at = (size_t)snprintf(text, size, "%s:\n", name);

	for (size_t i = 0; i < walk->count && at < size; i++)
		at += (size_t)snprintf(text + at, size - at,
				       "  #%zu pc %" PRIx64 " flags %x sp %" PRIx64
				       " fp %" PRIx64 "%s\n",
				       i, walk->frames[i].pc,
				       (unsigned)walk->frames[i].flags, walk->regs[i].sp,
				       walk->regs[i].fp,
				       walk->regs[i].has_fp ? "" : " (unknown)");
	if (at < size)
		at += (size_t)snprintf(text + at, size - at, "  end: %s\n",
				       pmp_end_text(walk->end));
	return at < size ? at : size;
}

static bool is_same(const struct pmp_walk *a, const struct pmp_walk *b)
{
	if (a->count != b->count || a->end != b->end || a->top != b->top)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->frames[i].pc != b->frames[i].pc ||
		    a->frames[i].flags != b->frames[i].flags ||
		    a->regs[i].sp != b->regs[i].sp || a->regs[i].fp != b->regs[i].fp ||
		    a->regs[i].has_fp != b->regs[i].has_fp)
			return false;
	return true;
}

/* Walk both with rules and with libunwind alone. Any difference aborts the process. */
static void compare(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
		    const struct pmp_reader *stack, const struct pmp_walk *walk)
{
	struct pmp_walk both[2] = { *walk, *walk };
	bool no_rules = unwinder->no_rules;
	static char text[1 << 16];
	size_t at;

	for (int i = 0; i < 2; i++) {
		both[i].frames = calloc(walk->limit + 1, sizeof(*both[i].frames));
		both[i].regs = calloc(walk->limit + 1, sizeof(*both[i].regs));
		if (!both[i].frames || !both[i].regs)
			goto out;
		unwinder->no_rules = i;
		unwinder->work = 0;
		walk_stack(unwinder, regs, stack, &both[i]);
		if (pmp_unwinder_is_spent(unwinder))
			goto out;
	}
	if (!is_same(&both[0], &both[1])) {
		at = describe(&both[0], "by rules", text, sizeof(text));
		describe(&both[1], "by libunwind", text + at, sizeof(text) - at);
		pmp_fault_stop("two ways, two stacks\n%s", text);
	}
out:
	unwinder->no_rules = no_rules;
	for (int i = 0; i < 2; i++) {
		free(both[i].frames);
		free(both[i].regs);
	}
}

#else

static void compare(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
		    const struct pmp_reader *stack, const struct pmp_walk *walk)
{
	(void)unwinder;
	(void)regs;
	(void)stack;
	(void)walk;
}

#endif

int pmp_walk(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
	     const struct pmp_reader *stack, struct pmp_walk *walk)
{
	unwinder->no_memory = false;
	if (!unwinder->walks++)
		unwinder->work = 0;
	if (unwinder->libunwind && PMP_FAULT("compare-unwind"))
		compare(unwinder, regs, stack, walk);
	walk_stack(unwinder, regs, stack, walk);
	unwinder->walks--;
	return unwinder->no_memory ? PMP_ENOMEM : 0;
}
