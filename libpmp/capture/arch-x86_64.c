/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: the registers of a stopped thread, and what single instructions tell
 * about the stack where there is no call-frame information. Only
 * pmp_arch_read() and pmp_arch_restart() run while a thread is held.
 */
#ifdef __x86_64__

#include "capture/arch.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#define ERESTARTNOHAND 514	/* of the kernel, not in its user headers */
#define CALL_SIZE 8		/* the longest call: call *%fs:disp32(base,index) */
#define CODE_WINDOW 16		/* bytes looked at around a pc */

/* Numbers of the System V ABI, figure 3.36. */
enum {
	RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP,
	R8, R9, R10, R11, R12, R13, R14, R15, RIP, REG_COUNT
};

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(union pmp_user_regs), "room");

const int pmp_reg_pc = RIP, pmp_reg_sp = RSP, pmp_reg_fp = RBP;
const int pmp_reg_return = RIP;
const size_t pmp_reg_count = REG_COUNT;
const int pmp_arch_elf_machine = EM_X86_64;
const uint64_t pmp_arch_preserved = 1u << RBX | 1u << RBP | 1u << RSP | 1u << R12 |
				    1u << R13 | 1u << R14 | 1u << R15 | 1u << RIP;

int pmp_arch_read(pid_t tid, union pmp_user_regs *user, uint64_t *tls)
{
	struct iovec iov = { .iov_base = user, .iov_len = sizeof(*user) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	/* A 32-bit thread gives the 68 bytes of its own structure. */
	if (iov.iov_len < sizeof(struct user_regs_struct))
		return -ENOEXEC;
	*tls = user->words[offsetof(struct user_regs_struct, fs_base) / 8];
	return 0;
}

void pmp_arch_convert(const union pmp_user_regs *user, struct pmp_regs *regs)
{
#define PLACE(name) (offsetof(struct user_regs_struct, name) / 8)
	static const uint8_t place[REG_COUNT] = {
		[RAX] = PLACE(rax), [RDX] = PLACE(rdx), [RCX] = PLACE(rcx),
		[RBX] = PLACE(rbx), [RSI] = PLACE(rsi), [RDI] = PLACE(rdi),
		[RBP] = PLACE(rbp), [RSP] = PLACE(rsp), [R8] = PLACE(r8),
		[R9] = PLACE(r9), [R10] = PLACE(r10), [R11] = PLACE(r11),
		[R12] = PLACE(r12), [R13] = PLACE(r13), [R14] = PLACE(r14),
		[R15] = PLACE(r15), [RIP] = PLACE(rip),
	};
#undef PLACE

	memset(regs, 0, sizeof(*regs));
	for (int i = 0; i < REG_COUNT; i++)
		pmp_regs_set(regs, i, user->words[place[i]]);
}

uint64_t pmp_arch_sp(const union pmp_user_regs *user)
{
	return user->words[offsetof(struct user_regs_struct, rsp) / 8];
}

/*
 * With this result in rax the kernel does the call again when the thread goes
 * on, unless a handler runs first: then the call gives EINTR, as it would have
 * without us.
 */
bool pmp_arch_restart(pid_t tid, const union pmp_user_regs *user)
{
	int64_t call =
		(int64_t)user->words[offsetof(struct user_regs_struct, orig_rax) / 8];
	int64_t result = (int64_t)user->words[offsetof(struct user_regs_struct, rax) / 8];

	if (call < 0 || result != -EINTR)
		return false;
	return !ptrace(PTRACE_POKEUSER, tid, (void *)offsetof(struct user, regs.rax),
		       (void *)(intptr_t)-ERESTARTNOHAND);
}

/* As much of the window at address as can be read (it may end with its page). */
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
bool pmp_arch_is_sigreturn(const struct pmp_reader *memory, uint64_t pc)
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

bool pmp_arch_signal_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			    struct pmp_regs *caller)
{
	/* uc_mcontext.gregs begins 40 bytes into the ucontext, where sp points to. */
	enum { GREGS = 40, GREG_COUNT = 17 };
	static const uint8_t order[GREG_COUNT] = {
		R8, R9, R10, R11, R12, R13, R14, R15, RDI, RSI, RBP, RBX, RDX, RAX,
		RCX, RSP, RIP
	};
	uint64_t gregs[GREG_COUNT];

	if (!pmp_read(stack, pmp_regs_get(regs, RSP) + GREGS, gregs, sizeof(gregs)))
		return false;
	memset(caller, 0, sizeof(*caller));
	for (int i = 0; i < GREG_COUNT; i++)
		pmp_regs_set(caller, order[i], gregs[i]);
	return true;
}

/* Does an indirect call (ff /2) end at the end of these CALL_SIZE bytes? The forms
 * differ in length by what their ModRM byte asks for. */
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
			need++;			/* SIB */
		if (mod == 1)
			need++;			/* disp8 */
		if (mod == 2 || (mod == 0 && rm == 5) ||
		    (mod == 0 && rm == 4 && (call[2] & 7) == 5))
			need += 4;		/* disp32 */
		if (need == length)
			return true;
	}
	return false;
}

bool pmp_arch_follows_call(const struct pmp_reader *memory, uint64_t pc, uint64_t *target)
{
	uint8_t code[CALL_SIZE];
	size_t size = CALL_SIZE;
	int32_t distance;

	if (target)
		*target = 0;
	memset(code, 0, sizeof(code));
	/* The first bytes of a mapping may be less than the longest call. */
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

bool pmp_arch_entry(const struct pmp_reader *memory, uint64_t pc,
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
	/* mov %rsp,%rbp in its two forms, behind push %rbp */
	if ((IS(code, "\x48\x89\xe5") || IS(code, "\x48\x8b\xec")) &&
	    before[CODE_WINDOW - 1] == 0x55) {
		entry->words = 1;
		entry->fp_pushed = true;
		return true;
	}
	return plt_entry(before + CODE_WINDOW, code, entry);
}

bool pmp_arch_entry_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			   const struct pmp_arch_entry *entry, struct pmp_regs *caller)
{
	uint64_t sp = pmp_regs_get(regs, RSP), pc, fp;

	if (!pmp_read(stack, sp + 8 * entry->words, &pc, 8))
		return false;
	*caller = *regs;
	caller->valid &= pmp_arch_preserved;
	if (entry->fp_pushed) {
		if (!pmp_read(stack, sp, &fp, 8))
			return false;
		pmp_regs_set(caller, RBP, fp);
	}
	pmp_regs_set(caller, RIP, pc);
	pmp_regs_set(caller, RSP, sp + 8 * entry->words + 8);
	return true;
}

uint64_t pmp_arch_code(uint64_t value)
{
	return value;
}

#endif
