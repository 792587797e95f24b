/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From registers and memory to return addresses. Runs after the thread has
 * been released; knows no process: memory comes through a struct pmp_reader,
 * the layout through a struct pmp_maps.
 *
 * Per frame: call-frame information where fde.c finds some for the pc, as a rule
 * (cfa-rules.c) or through libunwind (libunwind.c); else what holds for code without any:
 * leaf functions, stubs, the frame-pointer chain. Back to call-frame information as
 * soon as there is some.
 */
#ifndef PMP_UNWIND_WALK_H
#define PMP_UNWIND_WALK_H

#include "libpmp.h"
#include "sample.h"
#include "unwind/arch.h"
#include "unwind/cfa-rules.h"
#include "base/reader.h"

struct pmp_unwinder;

/* NULL: no memory. mode as in the public options. arch: of the code that is unwound; where
 * that is not of this build, what only libunwind can do is left to the frame pointer. */
struct pmp_unwinder *pmp_unwinder_new(const struct pmp_arch *arch, enum pmp_unwind mode);
void pmp_unwinder_free(struct pmp_unwinder *unwinder);
/*
 * Use this address space from now on (a reference is taken). What was cached
 * stays valid unless exec_generation differs. memory reads the target's
 * unchanging memory (headers, call-frame information, code) and is copied;
 * its arg must live as long as these maps are in use.
 */
int pmp_unwinder_set_maps(struct pmp_unwinder *unwinder, struct pmp_maps *maps,
			  const struct pmp_reader *memory);
/* After an exec: the next maps have nothing to do with these, whatever their
 * generations are. */
void pmp_unwinder_forget(struct pmp_unwinder *unwinder);

/*
 * The rule at pc. exact: of pc itself, as for the innermost frame and the victim
 * of a signal; else of the call before it. False: no call-frame information, or
 * some that makes no sense (rule->kind says which). From a cache once it is warm.
 * Needs pmp_unwinder_set_maps().
 */
bool pmp_unwinder_rule(struct pmp_unwinder *unwinder, uint64_t pc, bool exact,
		       struct pmp_rule *rule);

/* False: every frame by libunwind, as a test and a measure of the rules. */
void pmp_unwinder_set_rules(struct pmp_unwinder *unwinder, bool use);

/*
 * Called before each call-frame program that is not cached, as a sign of life: a walk
 * takes microseconds, but one through programs that were made to be slow some 50 ms.
 */
void pmp_unwinder_set_beat(struct pmp_unwinder *unwinder, void (*beat)(void *arg),
			   void *arg);
/*
 * Bytes of call-frame programs looked up since the last walk began, and what libunwind takes
 * to execute them, as bytes. Beyond the limit the walk ends with PMP_END_BAD_INFO; what it got
 * is cached for the next one. Few stacks need 20 KB when they are seen for the first time; the
 * limit is some 10 ms, 30 ms where libunwind has to execute them. A program that takes libunwind
 * more than that is not executed.
 */
#define PMP_WALK_WORK_MAX ((size_t)512 << 10)
size_t pmp_unwinder_work(const struct pmp_unwinder *unwinder);
/* Count what a caller does for a walk, or to check one, as such bytes. */
void pmp_unwinder_spend(struct pmp_unwinder *unwinder, size_t work);
bool pmp_unwinder_is_spent(const struct pmp_unwinder *unwinder);

/* sp and the frame pointer while a frame's pc was the next instruction. */
struct pmp_frame_regs {
	uint64_t sp, fp;
	bool has_fp; /* fp is known (not by find_fp for this frame); else 0 */
};

struct pmp_walk {
	struct pmp_raw_frame *frames; /* in: room for limit frames */
	struct pmp_frame_regs *regs;  /* in: room for limit of them, or NULL */
	size_t limit;
	bool from_caller; /* in: the pc in regs is a return address */
	bool zero_ends;	  /* in: a frame pointer of 0 is the end, whoever has set it */
	/*
	 * In, or NULL: asked for the frame pointer where call-frame information or the
	 * frame-pointer chain needs it and it is not valid in regs (whose pc and sp are
	 * those of frames[frame]). True: *fp is what it was at that pc; the walk goes
	 * on with it. False: the walk ends there with PMP_END_NO_INFO. May be asked
	 * again for a frame: some walks start again with all registers kept.
	 */
	bool (*find_fp)(void *arg, const struct pmp_regs *regs, size_t frame,
			uint64_t *fp);
	void *find_fp_arg;
	size_t count;	  /* out */
	enum pmp_end end; /* out */
	uint64_t top;	  /* out: sp of the outermost frame found */
	bool needs_fp;	  /* out: it ended for want of the frame pointer of
					 * frames[count - 1], whose sp is top */
};

/*
 * Unwind one stack. stack reads everything while it lasts: the copy of the
 * stack and, beyond it, the same memory as above. Always gives at least the
 * innermost frame. Of regs, pc and sp must be valid. Returns 0 or PMP_ENOMEM.
 */
int pmp_walk(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
	     const struct pmp_reader *stack, struct pmp_walk *walk);

#endif
