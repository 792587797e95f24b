/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: what single instructions show about the stack if there is no call-frame
 * information. No thread is held here.
 */
#include "unwind/arch.h"
#include "unwind/cfa-rules.h"

#include <elf.h>
#include <string.h>

#define CALL_SIZE 8    /* the longest call: call *%fs:disp32(base,index) */
#define SP_CODE 4      /* rsp as encoded in instructions */
#define CODE_WINDOW 16 /* bytes read around a pc */

/* Numbers from the System V ABI, figure 3.36. */
enum {
	RAX,
	RDX,
	RCX,
	RBX,
	RSI,
	RDI,
	RBP,
	RSP,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	RIP,
	REG_COUNT
};

#define PRESERVED \
	(1u << RBX | 1u << RBP | 1u << RSP | 1u << R12 | 1u << R13 | 1u << R14 | \
	 1u << R15 | 1u << RIP)

/* struct user_regs_struct: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi
 * orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs */
#define USER_WORDS 27
_Static_assert(USER_WORDS <= PMP_ARCH_WORDS_MAX, "room");
static const uint8_t user_order[REG_COUNT] = { 10, 12, 11, 5, 13, 14, 4, 19, 9,
					       8,  7,  6,  3, 2,  1,  0, 16 };

/* Read as much of the window at address as possible (it may end at a page boundary). */
static size_t read_window(const struct pmp_reader *memory, uint64_t address,
			  uint8_t window[CODE_WINDOW])
{
	memset(window, 0, CODE_WINDOW);
	for (size_t size = CODE_WINDOW; size; size /= 2)
		if (pmp_read(memory, address, window, size))
			return size;
	return 0;
}

static bool is_bytes(const uint8_t *code, const char *bytes, size_t length)
{
	return !memcmp(code, bytes, length);
}
#define IS(code, bytes) is_bytes((code), (bytes), sizeof(bytes) - 1)

/*
 *	48 c7 c0 0f 00 00 00	mov $15,%rax	(or b8 0f 00 00 00, mov $15,%eax)
 *	0f 05			syscall
 */
static bool is_sigreturn(const struct pmp_reader *memory, uint64_t pc)
{
	uint8_t code[9];

	if (pmp_read(memory, pc, code, 9) && IS(code, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05"))
		return true;
	if (pmp_read(memory, pc, code, 7) && IS(code, "\xb8\x0f\0\0\0\x0f\x05"))
		return true;
	if (pc < 7 || !pmp_read(memory, pc, code, 2) || !IS(code, "\x0f\x05"))
		return false;
	if (pmp_read(memory, pc - 7, code, 7) && IS(code, "\x48\xc7\xc0\x0f\0\0\0"))
		return true;
	return pmp_read(memory, pc - 5, code, 5) && IS(code, "\xb8\x0f\0\0\0");
}

static bool signal_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			  struct pmp_regs *caller)
{
	/* uc_mcontext.gregs begins 40 bytes into the ucontext, where sp points to. */
	enum { GREGS = 40, GREG_COUNT = 17 };
	static const uint8_t order[GREG_COUNT] = { R8,	R9,  R10, R11, R12, R13,
						   R14, R15, RDI, RSI, RBP, RBX,
						   RDX, RAX, RCX, RSP, RIP };
	uint64_t gregs[GREG_COUNT];

	if (!pmp_read(stack, pmp_regs_get(regs, RSP) + GREGS, gregs, sizeof(gregs)))
		return false;
	memset(caller, 0, sizeof(*caller));
	for (int i = 0; i < GREG_COUNT; i++)
		pmp_regs_set(caller, order[i], gregs[i]);
	return true;
}

/* Does an indirect call (ff /2) end at the end of these CALL_SIZE bytes? Its length
 * depends on its ModRM byte. */
static bool ends_with_indirect_call(const uint8_t *code)
{
	for (int length = 2; length <= 7; length++) {
		const uint8_t *call = code + CALL_SIZE - length;
		unsigned mod, rm;
		int need = 2;

		if (call[0] != 0xff || (call[1] >> 3 & 7) != 2)
			continue;
		mod = call[1] >> 6;
		rm = call[1] & 7;
		if (mod != 3 && rm == 4)
			need++; /* SIB */
		if (mod == 1)
			need++; /* disp8 */
		if (mod == 2 || (mod == 0 && rm == 5) ||
		    (mod == 0 && rm == 4 && (call[2] & 7) == 5))
			need += 4; /* disp32 */
		if (need == length)
			return true;
	}
	return false;
}

static bool follows_call(const struct pmp_reader *memory, uint64_t pc, uint64_t *target)
{
	uint8_t code[CALL_SIZE];
	size_t size = CALL_SIZE;
	int32_t distance;

	if (target)
		*target = 0;
	memset(code, 0, sizeof(code));
	/* Near the start of a mapping there may be fewer bytes than the longest call. */
	while (size >= 2 &&
	       (pc < size || !pmp_read(memory, pc - size, code + CALL_SIZE - size, size)))
		size--;
	if (size < 2)
		return false;
	if (size >= 5 && code[CALL_SIZE - 5] == 0xe8) {
		memcpy(&distance, code + CALL_SIZE - 4, 4);
		if (target)
			*target = pc + (uint64_t)(int64_t)distance;
		return true;
	}
	return ends_with_indirect_call(code);
}

/*
 * Entries of a procedure linkage table, and what each has pushed:
 *
 *	f3 0f 1e fa		endbr64				0
 *	f2 ff 25 disp32		bnd jmp *disp32(%rip)		0
 *	68 index		push $index			0
 *	e9 disp32		jmp first entry			1
 * and the first one:
 *	ff 35 disp32		push disp32(%rip)		1
 *	ff 25 disp32		jmp *disp32(%rip)		2
 */
static bool plt_entry(const uint8_t *before, const uint8_t *code,
		      struct pmp_arch_entry *entry)
{
	const uint8_t *jump = code[0] == 0xf2 ? code + 1 : code;

	if (IS(jump, "\xff\x25"))
		entry->words = IS(before - 6, "\xff\x35") ? 2 : 0;
	else if (jump[0] == 0xe9 && before[-5] == 0x68)
		entry->words = 1;
	else if (code[0] == 0x68 && (code[5] == 0xe9 || IS(code + 5, "\xf2\xe9")))
		entry->words = 0;
	else if (IS(code, "\xff\x35") &&
		 (IS(code + 6, "\xff\x25") || IS(code + 6, "\xf2\xff\x25")))
		entry->words = 1;
	else
		return false;
	return true;
}

static bool find_entry(const struct pmp_reader *memory, uint64_t pc,
		       struct pmp_arch_entry *entry)
{
	uint8_t code[CODE_WINDOW], before[CODE_WINDOW];

	memset(entry, 0, sizeof(*entry));
	memset(before, 0, sizeof(before));
	if (!read_window(memory, pc, code))
		return false;
	for (size_t size = 8; size; size /= 2)
		if (pc >= size &&
		    pmp_read(memory, pc - size, before + CODE_WINDOW - size, size))
			break;
	/* endbr64; push %rbp; ret in its forms */
	if (IS(code, "\xf3\x0f\x1e\xfa") || code[0] == 0x55 || code[0] == 0xc3 ||
	    code[0] == 0xc2 || IS(code, "\xf3\xc3"))
		return true;
	/* mov %rsp,%rbp in its two forms, after push %rbp */
	if ((IS(code, "\x48\x89\xe5") || IS(code, "\x48\x8b\xec")) &&
	    before[CODE_WINDOW - 1] == 0x55) {
		entry->words = 1;
		entry->fp_pushed = true;
		return true;
	}
	return plt_entry(before + CODE_WINDOW, code, entry);
}

static bool entry_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			 const struct pmp_arch_entry *entry, struct pmp_regs *caller)
{
	uint64_t sp = pmp_regs_get(regs, RSP), pc, fp;

	if (!pmp_read(stack, sp + 8 * entry->words, &pc, 8))
		return false;
	*caller = *regs;
	caller->valid &= PRESERVED;
	if (entry->fp_pushed) {
		if (!pmp_read(stack, sp, &fp, 8))
			return false;
		pmp_regs_set(caller, RBP, fp);
	}
	pmp_regs_set(caller, RIP, pc);
	pmp_regs_set(caller, RSP, sp + 8 * entry->words + 8);
	return true;
}

/*
 * With REX.W: 29 /r sub reg,rsp; 2b /r sub r/m,rsp; 01, 03 the same for add; 83 /4, 81 /4
 * and imm,rsp; 21, 23 and by a register. How far an alignment moves sp depends on the
 * caller.
 */
static bool moves_sp(const uint8_t *code, size_t length)
{
	for (size_t i = 0; i + 2 < length; i++) {
		unsigned opcode = code[i + 1], modrm = code[i + 2];
		bool to_memory = opcode == 0x29 || opcode == 0x01 || opcode == 0x21;
		bool from_memory = opcode == 0x2b || opcode == 0x03 || opcode == 0x23;

		if ((code[i] & 0xf8) != 0x48)
			continue;
		if (to_memory && modrm >> 6 == 3 && (modrm & 7) == SP_CODE &&
		    !(code[i] & 1))
			return true;
		if (from_memory && (modrm >> 3 & 7) == SP_CODE && !(code[i] & 4))
			return true;
		if ((opcode == 0x83 || opcode == 0x81) && modrm == 0xe4 && !(code[i] & 1))
			return true;
	}
	return false;
}

/* ---- the first instructions of a function ------------------------------------------ */

enum flow { GOES_ON, ENDS, NOT_UNDERSTOOD };

/* An instruction, as far as needed here. */
struct instruction {
	const uint8_t *code; /* its opcode, after all prefixes */
	size_t left;	     /* bytes from there to the end of the buffer */
	uint8_t rex;
	size_t length; /* from code on */
	enum flow flow;
};

/* Length of the ModRM byte with SIB and displacement. */
static size_t modrm_length(const uint8_t *modrm, size_t left)
{
	unsigned mod, rm;
	size_t length = 1;

	if (left < 2)
		return 16;
	mod = modrm[0] >> 6;
	rm = modrm[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		length++;
		if (mod == 0 && (modrm[1] & 7) == 5)
			length += 4;
	}
	if (mod == 0 && rm == 5)
		length += 4;
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static void decode_two_bytes(struct instruction *in)
{
	unsigned opcode = in->left > 1 ? in->code[1] : 0;

	if ((opcode & 0xf0) == 0x80) {
		in->length = 6; /* jcc: continue with what follows */
		return;
	}
	/* Moves, extensions, logic, comparisons, conditional moves: no immediates. */
	if ((opcode >= 0x10 && opcode <= 0x2f) || (opcode & 0xe0) == 0x40 ||
	    opcode == 0x57 || opcode == 0x6e || opcode == 0x6f || opcode == 0x7e ||
	    opcode == 0x7f || (opcode & 0xf0) == 0x90 || opcode == 0xaf ||
	    opcode == 0xb6 || opcode == 0xb7 || opcode == 0xbe || opcode == 0xbf ||
	    opcode == 0xd6 || opcode == 0xef)
		in->length = 2 + modrm_length(in->code + 2, in->left - 2);
	else
		in->flow = NOT_UNDERSTOOD;
}

/* For opcodes with a ModRM byte: bytes of the immediate that follows; -1: not one of
 * these. */
static int immediate_length(const uint8_t *code)
{
	switch (code[0]) {
	case 0x01:
	case 0x03:
	case 0x09:
	case 0x0b:
	case 0x21:
	case 0x23:
	case 0x29:
	case 0x2b:
	case 0x31:
	case 0x33:
	case 0x38:
	case 0x39:
	case 0x3a:
	case 0x3b:
	case 0x63:
	case 0x84:
	case 0x85:
	case 0x88:
	case 0x89:
	case 0x8a:
	case 0x8b:
	case 0x8d:
	case 0xd1:
	case 0xd3: return 0;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6: return 1;
	case 0x69:
	case 0x81:
	case 0xc7: return 4;
	case 0xf6: return (code[1] & 0x30) == 0 ? 1 : 0;
	case 0xf7: return (code[1] & 0x30) == 0 ? 4 : 0;
	}
	return -1;
}

static void decode_one_byte(struct instruction *in)
{
	unsigned opcode = in->code[0];
	int immediate = in->left > 1 ? immediate_length(in->code) : -1;

	if ((opcode & 0xf0) == 0x50 || opcode == 0x90 || opcode == 0x98 || opcode == 0x99)
		in->length = 1;
	else if ((opcode & 0xf0) == 0x70 || opcode == 0xa8 || opcode == 0x3c ||
		 opcode == 0x24)
		in->length = 2;
	else if (opcode == 0x05 || opcode == 0x25 || opcode == 0x2d || opcode == 0x3d ||
		 opcode == 0xa9)
		in->length = 5;
	else if ((opcode & 0xf8) == 0xb8)
		in->length = in->rex & 8 ? 9 : 5;
	else if (opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb || opcode == 0xc3 ||
		 opcode == 0xcc || opcode == 0xff)
		in->flow = ENDS; /* at the first call, at the latest */
	else if (immediate >= 0)
		in->length =
			1 + modrm_length(in->code + 1, in->left - 1) + (size_t)immediate;
	else
		in->flow = NOT_UNDERSTOOD;
}

static void decode(struct instruction *in, const uint8_t *code, size_t left)
{
	bool short_operand = false;

	*in = (struct instruction){ .code = code, .left = left };
	while (in->left &&
	       (in->code[0] == 0x66 || in->code[0] == 0xf2 || in->code[0] == 0xf3 ||
		in->code[0] == 0x64 || in->code[0] == 0x65)) {
		short_operand = short_operand || in->code[0] == 0x66;
		in->code++;
		in->left--;
	}
	if (in->left && (in->code[0] & 0xf0) == 0x40) {
		in->rex = *in->code++;
		in->left--;
	}
	if (!in->left)
		in->flow = NOT_UNDERSTOOD;
	else if (in->code[0] == 0x0f)
		decode_two_bytes(in);
	else
		decode_one_byte(in);
	/* Immediates of 16 bits are rare. */
	if (short_operand && (in->code[0] == 0x81 || in->code[0] == 0xc7))
		in->flow = NOT_UNDERSTOOD;
	if (in->length > in->left)
		in->flow = NOT_UNDERSTOOD;
}

/* The number subtracted from the stack pointer: 48 83 ec imm8, 48 81 ec imm32. */
static uint64_t subtracts(const struct instruction *in)
{
	int32_t word;

	if (in->rex != 0x48 || in->left < 6 || in->code[1] != 0xec)
		return 0;
	if (in->code[0] == 0x83)
		return (uint64_t)(int8_t)in->code[2];
	if (in->code[0] != 0x81)
		return 0;
	memcpy(&word, in->code + 2, 4);
	return (uint64_t)(int64_t)word;
}

static bool frame_size(const uint8_t *code, size_t length, uint64_t *size)
{
	bool framed = false;

	*size = 0;
	for (size_t at = 0; at < length;) {
		struct instruction in;
		bool is_move;

		decode(&in, code + at, length - at);
		if (in.flow == NOT_UNDERSTOOD)
			return false;
		if (in.flow == ENDS)
			return framed;
		/* mov %rsp,%rbp in its two forms */
		is_move = in.rex == 0x48 && in.left >= 2 &&
			  (IS(in.code, "\x89\xe5") || IS(in.code, "\x8b\xec"));
		if (is_move && framed)
			return false;
		framed = framed || is_move;
		if (framed && (in.code[0] & 0xf8) == 0x50)
			*size += 8;
		if (framed && (in.code[0] & 0xf8) == 0x58)
			return false;
		if (framed)
			*size += subtracts(&in);
		at = (size_t)(in.code - code) + in.length;
	}
	return false;
}

/* e9 disp32, eb disp8, 0f 80-8f disp32, 70-7f disp8; ff /4: target unknown. */
static bool next_jump(struct pmp_arch_jump *jump)
{
	for (; jump->at + 1 < jump->length; jump->at++) {
		const uint8_t *code = jump->code + jump->at;
		size_t left = jump->length - jump->at, size = 0, offset = 1;
		int64_t distance = 0;
		int32_t word;

		if (code[0] == 0xff && (code[1] >> 3 & 7) == 4) {
			jump->target = 0;
			jump->at++;
			return true;
		}
		if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
			offset = 2, size = 4;
		else if (code[0] == 0xe9)
			size = 4;
		else if (code[0] == 0xeb || (code[0] & 0xf0) == 0x70)
			size = 1;
		if (!size || offset + size > left)
			continue;
		memcpy(&word, code + offset, size == 4 ? 4 : 1);
		distance = size == 4 ? word : (int8_t)code[offset];
		jump->target =
			jump->address + jump->at + offset + size + (uint64_t)distance;
		jump->at++;
		if (jump->target)
			return true;
	}
	return false;
}

/* ---- Go ----------------------------------------------------------------------------- */

/* A function with a frame saves the frame pointer below the return address. */
static void go_frame(uint32_t size, struct pmp_rule *rule)
{
	*rule = (struct pmp_rule){
		.cfa_offset = (int32_t)size + 8,
		.ra = PMP_WHERE_SAVED,
		.ra_offset = -8,
		.fp = size ? PMP_WHERE_SAVED : PMP_WHERE_SAME,
		.fp_offset = -16,
	};
}

const struct pmp_arch pmp_arch_x86_64 = {
	.elf_machine = EM_X86_64,
	.pc = RIP,
	.sp = RSP,
	.fp = RBP,
	.link = RIP,
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
};
