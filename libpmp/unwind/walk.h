/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From registers and memory to return addresses. Runs after the thread has been released,
 * and knows no process: memory comes through a struct pmp_reader, the layout through a
 * struct pmp_maps.
 *
 * For each frame: call-frame information if fde.c finds some for the pc, as a rule
 * (cfa-rules.c) or through libunwind (libunwind.c); else heuristics for code without any:
 * leaf functions, stubs, the frame-pointer chain. Call-frame information is used again as
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

/* NULL: no memory. mode as in the public options. arch: of the unwound code; if it is not
 * the one of this build, the frame pointer is used where only libunwind could help. */
struct pmp_unwinder *pmp_unwinder_new(const struct pmp_arch *arch, enum pmp_unwind mode);
void pmp_unwinder_free(struct pmp_unwinder *unwinder);
/*
 * Use this address space from now on (takes a reference). Caches stay valid
 * unless exec_generation differs. memory reads the target's unchanging memory
 * (headers, call-frame information, code) and is copied; its arg must live as
 * long as these maps are in use.
 */
int pmp_unwinder_set_maps(struct pmp_unwinder *unwinder, struct pmp_maps *maps,
			  const struct pmp_reader *memory);
/* Call it after an exec: the next maps are unrelated to the current ones,
 * whatever their generations are. */
void pmp_unwinder_forget(struct pmp_unwinder *unwinder);

/*
 * The rule at pc. exact: of pc itself, as for the innermost frame and the
 * victim of a signal; else of the call before it. False: no call-frame
 * information, or malformed (rule->kind says which). Rules are cached. Needs
 * pmp_unwinder_set_maps().
 */
bool pmp_unwinder_rule(struct pmp_unwinder *unwinder, uint64_t pc, bool exact,
		       struct pmp_rule *rule);

/* False: use libunwind for every frame, to test and measure the rules. */
void pmp_unwinder_set_rules(struct pmp_unwinder *unwinder, bool use);

/*
 * Set a function to call before each call-frame program that is not cached, as a sign of
 * life: a walk takes microseconds, but up to 50 ms through programs crafted to be slow.
 */
void pmp_unwinder_set_beat(struct pmp_unwinder *unwinder, void (*beat)(void *arg),
			   void *arg);
/*
 * The work of the current walk: bytes of call-frame programs looked up, and the cost of
 * executing them in libunwind, expressed as bytes. Beyond the limit the walk ends with
 * PMP_END_BAD_INFO; its results are cached for the next one. Few stacks need 20 KB when
 * first seen; the limit is about 10 ms, or 30 ms if libunwind executes them. A program
 * that would take libunwind longer than that is not executed.
 */
#define PMP_WALK_WORK_MAX ((size_t)512 << 10)
size_t pmp_unwinder_work(const struct pmp_unwinder *unwinder);
/* Add a caller's own work for a walk, or to check one, in such bytes. */
void pmp_unwinder_spend(struct pmp_unwinder *unwinder, size_t work);
bool pmp_unwinder_is_spent(const struct pmp_unwinder *unwinder);

/* sp and the frame pointer when the frame's pc was the next instruction. */
struct pmp_frame_regs {
	uint64_t sp, fp;
	bool has_fp; /* fp is known (not from find_fp for this frame); else fp is 0 */
};

struct pmp_walk {
	struct pmp_raw_frame *frames; /* in: room for limit frames */
	struct pmp_frame_regs *regs;  /* in: room for limit of them, or NULL */
	size_t limit;
	bool from_caller; /* in: the pc in regs is a return address */
	bool zero_ends;	  /* in: a frame pointer of 0 is the end, whoever set it */
	/*
	 * In, or NULL: called when call-frame information or the frame-pointer chain needs
	 * the frame pointer and it is not valid in regs (whose pc and sp are those of
	 * frames[frame]). True: *fp is its value at that pc, and the walk continues with
	 * it. False: the walk ends there with PMP_END_NO_INFO. May be called again for the
	 * same frame, because some walks restart with all registers kept.
	 */
	bool (*find_fp)(void *arg, const struct pmp_regs *regs, size_t frame,
			uint64_t *fp);
	void *find_fp_arg;
	size_t count;	  /* out */
	enum pmp_end end; /* out */
	uint64_t top;	  /* out: sp of the outermost frame found */
	bool needs_fp;	  /* out: it ended because the frame pointer of
			   * frames[count - 1] is unknown, whose sp is top */
};

/*
 * Unwind one stack. stack is used for all reads during the walk: the copy of
 * the stack and, beyond it, the same memory as above. Always finds at least the
 * innermost frame. In regs, pc and sp must be valid. Returns 0 or PMP_ENOMEM.
 */
int pmp_walk(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
	     const struct pmp_reader *stack, struct pmp_walk *walk);

#endif
