/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aarch64: what single instructions show about the stack if there is no call-frame
 * information. No thread is held here.
 */
#include "unwind/arch.h"
#include "unwind/cfa-rules.h"

#include <elf.h>
#include <string.h>

/* Numbers from DWARF for the Arm 64-bit Architecture, 4.1. */
enum { X19 = 19, FP = 29, LR = 30, SP = 31, PC = 32, REG_COUNT };

#define MOV_X8_SIGRETURN 0xd2801168u /* mov x8, #139 */
#define SVC_0 0xd4000001u
#define AUTIA1716 0xd503219fu
#define INSTRUCTION 4 /* bytes */

_Static_assert(REG_COUNT <= PMP_REGS, "room");

/* x19 to x28, fp, sp, pc */
#define PRESERVED \
	((UINT64_C(1) << LR) - (UINT64_C(1) << X19) + (UINT64_C(1) << SP) + \
	 (UINT64_C(1) << PC))

/* struct user_pt_regs: x0 to x30, sp, pc, like the DWARF numbers; then pstate. */
#define USER_WORDS 34
_Static_assert(USER_WORDS <= PMP_ARCH_WORDS_MAX, "room");
static const uint8_t user_order[REG_COUNT] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

/*
 * Which bits are a signature depends on the size of the kernel's addresses. The
 * instruction knows; on a processor without signatures it does nothing. For a core file of
 * another machine: 48 bits, as in all programs except those that request more.
 */
static uint64_t code_address(uint64_t value)
{
#ifdef __aarch64__
	register uint64_t link __asm__("x30") = value;

	__asm__("hint #7" : "+r"(link)); /* xpaclri */
	return link;
#else
	return value & UINT64_C(0xffffffffffff);
#endif
}

static bool is_sigreturn(const struct pmp_reader *memory, uint64_t pc)
{
	uint32_t code[2];

	if (pmp_read(memory, pc, code, 8) && code[0] == MOV_X8_SIGRETURN &&
	    code[1] == SVC_0)
		return true;
	return pmp_read(memory, pc - 4, code, 8) && code[0] == MOV_X8_SIGRETURN &&
	       code[1] == SVC_0;
}

static bool signal_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			  struct pmp_regs *caller)
{
	/* struct rt_sigframe: siginfo (128), then ucontext, whose sigcontext begins
	 * at 176 with the fault address; after it x0 to x30, sp, pc. */
	enum { GREGS = 128 + 176 + 8 };
	uint64_t gregs[REG_COUNT];

	if (!pmp_read(stack, pmp_regs_get(regs, SP) + GREGS, gregs, sizeof(gregs)))
		return false;
	memset(caller, 0, sizeof(*caller));
	for (int i = 0; i < REG_COUNT; i++)
		pmp_regs_set(caller, i, gregs[i]);
	return true;
}

/*
 *	94...... bl target	d63f0..0 blr xN		d[67]3f08.. blraa and the like
 */
static bool follows_call(const struct pmp_reader *memory, uint64_t pc, uint64_t *target)
{
	uint32_t code;

	if (target)
		*target = 0;
	if (pc < 4 || pc % 4 || !pmp_read(memory, pc - 4, &code, 4))
		return false;
	if ((code & 0xfc000000) == 0x94000000) {
		if (target)
			*target = pc - 4 +
				  (uint64_t)((int64_t)((uint64_t)code << 38) >> 36);
		return true;
	}
	return (code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfefff800) == 0xd63f0800;
}

/* stp x29, x30, [sp, #-N]! */
static bool is_push(uint32_t word)
{
	return (word & 0xffe07fff) == 0xa9a07bfd;
}

/*
 * A procedure linkage table; its first entry is on the right:
 *
 *	adrp x16, slot				stp x16, x30, [sp, #-16]!
 *	ldr x17, [x16, slot]			adrp x16, slot
 *	add x16, x16, slot			...
 *	br x17 (or autia1716 before it)		br x17
 */
static bool is_stub(const struct pmp_reader *memory, uint64_t pc, unsigned *words)
{
	static const struct {
		uint32_t mask, word;
	} stub[] = {
		{ 0x9f00001f, 0x90000010 },
		{ 0xffc003ff, 0xf9400211 },
		{ 0xffc003ff, 0x91000210 },
		{ 0xffffffff, 0xd61f0220 },
	};
	enum { LENGTH = sizeof(stub) / sizeof(*stub) };
	uint32_t code[LENGTH], push;

	for (uint64_t at = 0; at <= LENGTH * INSTRUCTION; at += INSTRUCTION) {
		size_t i = 0;

		if (pc < at || !pmp_read(memory, pc - at, code, sizeof(code)))
			continue;
		while (i < LENGTH && (code[i] & stub[i].mask) == stub[i].word)
			i++;
		/* The last instruction may be preceded by another. */
		if (i < LENGTH - 1 || (i < LENGTH && code[i] != AUTIA1716))
			continue;
		*words = pmp_read(memory, pc - at - INSTRUCTION, &push, sizeof(push)) &&
					 push == 0xa9bf7bf0
				 ? 2
				 : 0;
		return at < LENGTH * INSTRUCTION || i < LENGTH;
	}
	return false;
}

/*
 *	d503245f bti c		a9b.7bfd stp x29, x30, [sp, #-N]!
 *	d503233f paciasp	d503237f pacibsp	910003fd mov x29, sp
 *	d65f03c0 ret		d65f0bff retaa		d65f0fff retab
 */
static bool find_entry(const struct pmp_reader *memory, uint64_t pc,
		       struct pmp_arch_entry *entry)
{
	uint32_t code, before;

	memset(entry, 0, sizeof(*entry));
	if (pc % INSTRUCTION || !pmp_read(memory, pc, &code, INSTRUCTION))
		return false;
	if (code == 0x910003fd &&
	    pmp_read(memory, pc - INSTRUCTION, &before, INSTRUCTION) && is_push(before)) {
		entry->words = 128 - (before >> 15 & 0x7f);
		entry->fp_pushed = true;
		return true;
	}
	return code == 0xd503245f || code == 0xd503233f || code == 0xd503237f ||
	       code == 0xd65f03c0 || code == 0xd65f0bff || code == 0xd65f0fff ||
	       is_push(code) || is_stub(memory, pc, &entry->words);
}

static bool entry_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			 const struct pmp_arch_entry *entry, struct pmp_regs *caller)
{
	uint64_t sp = pmp_regs_get(regs, SP), record[2];

	if (entry->fp_pushed ? !pmp_read(stack, sp, record, sizeof(record))
			     : !pmp_regs_has(regs, LR))
		return false;
	*caller = *regs;
	caller->valid &= PRESERVED;
	if (entry->fp_pushed)
		pmp_regs_set(caller, FP, record[0]);
	pmp_regs_set(caller, PC,
		     code_address(entry->fp_pushed ? record[1] : pmp_regs_get(regs, LR)));
	pmp_regs_set(caller, SP, sp + 8 * (uint64_t)entry->words);
	return true;
}

static unsigned rd(uint32_t word)
{
	return word & 31;
}

static unsigned rn(uint32_t word)
{
	return word >> 5 & 31;
}

/* 64-bit add or sub of an immediate; mov from or to sp is one, too. */
static bool is_add(uint32_t word)
{
	return (word & 0xbf800000) == 0x91000000;
}

static int64_t added(uint32_t word)
{
	int64_t number = (int64_t)(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);

	return word >> 30 & 1 ? -number : number;
}

/*
 * sub or add sp,x,register; and sp,x,#mask; add or sub sp,x,#n (mov sp,x) except from sp
 * itself and, at a function's end, from x29.
 */
static bool moves_sp(const uint8_t *code, size_t length)
{
	for (size_t i = 0; i + INSTRUCTION <= length; i += INSTRUCTION) {
		uint32_t word;

		memcpy(&word, code + i, INSTRUCTION);
		if ((word & 0xbfe0001f) == 0x8b20001f ||
		    (word & 0xff80001f) == 0x9200001f)
			return true;
		if (is_add(word) && rd(word) == SP && rn(word) != SP && rn(word) != FP)
			return true;
	}
	return false;
}

/* Loads and stores of one or two registers that also change sp, by *by. */
static bool moves_base(uint32_t word, int64_t *by)
{
	bool pair = (word & 0x3a000000) == 0x28000000 && word & 0x00800000;
	bool single = (word & 0x3b200000) == 0x38000000 && word & 0x00000400;
	/* register size: 4 or 8 bytes; 4, 8 or 16 for floating point */
	unsigned scale = 2 + (word >> 26 & 1 ? word >> 30 : word >> 31);

	if (rn(word) != SP || !(pair || single))
		return false;
	if (pair)
		*by = ((int64_t)((uint64_t)word << 42) >> 57) * (1 << scale);
	else
		*by = (int64_t)((uint64_t)word << 43) >> 55;
	return true;
}

/* b, bl, b.cond, cbz, tbz, br, blr, ret, svc and the like, but not nop and other hints. */
static bool branches(uint32_t word)
{
	return (word & 0x1c000000) == 0x14000000 && word >> 24 != 0xd5;
}

/*
 *	stp x29, x30, [sp, #-N]!	sub sp, sp, #N
 *	mov x29, sp			stp x29, x30, [sp, #K]
 *					add x29, sp, #K
 */
static bool frame_size(const uint8_t *code, size_t length, uint64_t *size)
{
	bool framed = false;
	int64_t distance = 0, by;

	*size = 0;
	for (size_t at = 0; at + INSTRUCTION <= length; at += INSTRUCTION) {
		uint32_t word;

		memcpy(&word, code + at, INSTRUCTION);
		if (branches(word))
			break;
		if (is_add(word) && rd(word) == FP) {
			if (framed || rn(word) != SP)
				return false;
			framed = true;
			distance = added(word);
		} else if (is_add(word) && rd(word) == SP) {
			distance -= added(word);
		} else if (moves_base(word, &by)) {
			distance -= by;
		}
	}
	*size = framed && distance >= 0 ? (uint64_t)distance : 0;
	return framed && distance >= 0;
}

/* b, b.cond, cbz, tbz with their distances; br: target unknown. */
static bool next_jump(struct pmp_arch_jump *jump)
{
	while (jump->at + 4 <= jump->length) {
		uint64_t pc = jump->address + jump->at;
		uint32_t word;

		memcpy(&word, jump->code + jump->at, 4);
		jump->at += 4;
		if ((word & 0xfffffc1f) == 0xd61f0000)
			jump->target = 0;
		else if (word >> 26 == 5)
			jump->target =
				pc + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
		else if ((word & 0xff000010) == 0x54000000 ||
			 (word & 0x7e000000) == 0x34000000)
			jump->target =
				pc +
				(uint64_t)(((int64_t)(int32_t)(word << 8) >> 13) * 4);
		else if ((word & 0x7e000000) == 0x36000000)
			jump->target =
				pc +
				(uint64_t)(((int64_t)(int32_t)(word << 13) >> 18) * 4);
		else
			continue;
		return true;
	}
	return false;
}

/* ---- Go ----------------------------------------------------------------------------- */

/*
 * A function with a frame saves the return address at the lower end of the frame, where sp
 * points, and the frame pointer below that, in the frame of its callee; its own frame
 * pointer points there. So frame pointers are below sp, and their chain cannot be followed
 * as in C.
 */
static void go_frame(uint32_t size, struct pmp_rule *rule)
{
	*rule = (struct pmp_rule){
		.cfa_offset = (int32_t)size,
		.ra = size ? PMP_WHERE_SAVED : PMP_WHERE_SAME,
		.ra_offset = -(int32_t)size,
		.fp = size ? PMP_WHERE_SAVED : PMP_WHERE_SAME,
		.fp_offset = -(int32_t)size - 8,
	};
}

const struct pmp_arch pmp_arch_aarch64 = {
	.elf_machine = EM_AARCH64,
	.pc = PC,
	.sp = SP,
	.fp = FP,
	.link = LR,
	.reg_count = REG_COUNT,
	.preserved = PRESERVED,
	.user_words = USER_WORDS,
	.user_order = user_order,
	.is_sigreturn = is_sigreturn,
	.follows_call = follows_call,
	.signal_caller = signal_caller,
	.entry = find_entry,
	.entry_caller = entry_caller,
	.moves_sp = moves_sp,
	.frame_size = frame_size,
	.next_jump = next_jump,
	.go_frame = go_frame,
	.code = code_address,
};
