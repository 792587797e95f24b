/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Artificial core files, of a process with two functions without call-frame information:
 * the bottom calls outer(), which calls inner(), each with a frame pointer.
 *
 *	code	10000	a call, as at 10100: return addresses follow them; 10200 is the pc,
 *			on aarch64 a system call
 *	stack	20000	thread n has its frames at 20000 + 100 * (n % 8)
 */
#ifndef PMP_T_COREFILE_H
#define PMP_T_COREFILE_H

#include <elf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CODE UINT64_C(0x10000)
#define STACK UINT64_C(0x20000)
#define CORE_PAGE 0x1000u
#define CORE_PID 4100
#define CORE_ADDRESS UINT64_C(0x18)
#define CORE_CALL 98 /* futex, on aarch64 */

/* The machine of this build. */
#ifdef __aarch64__
#define CORE_MACHINE EM_AARCH64
#else
#define CORE_MACHINE EM_X86_64
#endif
/* Bytes of a call. */
#define CORE_CALL_SIZE(machine) ((machine) == EM_AARCH64 ? 4u : 5u)

struct corefile {
	unsigned char *bytes;
	size_t length, room;
	size_t notes; /* their offset */
	unsigned machine;
};

static inline void core_add(struct corefile *core, const void *data, size_t length)
{
	if (core->length + length > core->room) {
		core->room = 2 * (core->length + length);
		core->bytes = realloc(core->bytes, core->room);
		if (!core->bytes)
			abort();
	}
	memcpy(core->bytes + core->length, data, length);
	core->length += length;
}

static inline void core_pad(struct corefile *core, size_t length)
{
	static const unsigned char zeros[CORE_PAGE];

	core_add(core, zeros, length);
}

static inline void core_note(struct corefile *core, uint32_t type, const void *data,
			     uint32_t length)
{
	const Elf64_Nhdr note = { 5, length, type };

	core_add(core, &note, sizeof(note));
	core_add(core, "CORE\0\0\0", 8);
	core_add(core, data, length);
	core_pad(core, -length & 3);
}

static inline void core_put(unsigned char *bytes, size_t at, uint64_t value, size_t size)
{
	memcpy(bytes + at, &value, size);
}

static inline void core_psinfo(struct corefile *core)
{
	unsigned char note[136] = { 0, 'R' };

	core_put(note, 24, CORE_PID, 4);
	memcpy(note + 40, "synthetic", 9);
	memcpy(note + 56, "./synthetic one two ", 20);
	core_note(core, NT_PRPSINFO, note, sizeof(note));
}

/* Add a thread: stack pointer, frame pointer and pc are words of NT_PRSTATUS. */
static inline void core_thread(struct corefile *core, int tid, int number)
{
	enum { X86_RBP = 4, X86_ORIG_RAX = 15, X86_RIP, X86_RSP = 19, X86_FS_BASE = 21 };
	enum { ARM_X8 = 8, ARM_FP = 29, ARM_SP = 31, ARM_PC };
	const bool is_arm = core->machine == EM_AARCH64;
	const uint64_t sp = STACK + 0x100 * (unsigned)(tid % 8);
	unsigned char note[112 + 34 * 8 + 8] = { 0 };
	uint64_t words[34] = { 0 };

	core_put(note, 12, (uint64_t)number, 2);
	core_put(note, 32, (uint64_t)tid, 4);
	words[is_arm ? ARM_PC : X86_RIP] = CODE + 0x200;
	words[is_arm ? ARM_SP : X86_RSP] = sp;
	words[is_arm ? ARM_FP : X86_RBP] = sp + 0x10;
	if (is_arm) {
		words[ARM_X8] = CORE_CALL;
	} else {
		words[X86_ORIG_RAX] = UINT64_MAX;
		words[X86_FS_BASE] = 0x7000;
	}
	memcpy(note + 112, words, sizeof(words));
	core_note(core, NT_PRSTATUS, note, is_arm ? sizeof(note) : 336);
}

static inline void core_siginfo(struct corefile *core)
{
	unsigned char note[128] = { 0 };

	core_put(note, 0, SIGSEGV, 4);
	core_put(note, 8, SEGV_MAPERR, 4);
	core_put(note, 16, CORE_ADDRESS, 8);
	core_note(core, NT_SIGINFO, note, sizeof(note));
}

static inline void core_files(struct corefile *core)
{
	const uint64_t table[] = {
		2, CORE_PAGE, 0x40000, 0x42000, 0, 0x42000, 0x43000, 2
	};
	static const char paths[] = "/nonexistent/libone.so\0/nonexistent/libone.so";
	unsigned char note[sizeof(table) + sizeof(paths)];

	memcpy(note, table, sizeof(table));
	memcpy(note + sizeof(table), paths, sizeof(paths));
	core_note(core, NT_FILE, note, sizeof(note));
}

static inline void core_memory(struct corefile *core)
{
	unsigned char code[CORE_PAGE] = { 0 }, stack[CORE_PAGE] = { 0 };
	const unsigned size = CORE_CALL_SIZE(core->machine);

	if (core->machine == EM_AARCH64) {
		core_put(code, 0, 0x94000000, 4);
		core_put(code, 0x100, 0x94000000, 4);
		core_put(code, 0x200, 0xd4000001, 4);
	} else {
		code[0] = code[0x100] = 0xe8;
	}
	for (unsigned i = 0; i < 8; i++) {
		/* inner's frame record, then outer's, which is the last */
		core_put(stack, i * 0x100 + 0x10, STACK + i * 0x100 + 0x20, 8);
		core_put(stack, i * 0x100 + 0x18, CODE + 0x100 + size, 8);
		core_put(stack, i * 0x100 + 0x20, 0, 8);
		core_put(stack, i * 0x100 + 0x28, CODE + size, 8);
	}
	core_add(core, code, sizeof(code));
	core_add(core, stack, sizeof(stack));
}

/* Make a complete core with threads 4100, 4101, ...; the last one got the signal. machine:
 * EM_X86_64 or EM_AARCH64. */
static inline void core_make_for(struct corefile *core, int threads, unsigned machine)
{
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					   EV_CURRENT },
			      .e_type = ET_CORE,
			      .e_machine = (Elf64_Half)machine,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header),
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 3 };
	Elf64_Phdr programs[3] = {
		{ .p_type = PT_NOTE },
		{ .p_type = PT_LOAD, .p_vaddr = CODE, .p_flags = PF_R | PF_X },
		{ .p_type = PT_LOAD, .p_vaddr = STACK, .p_flags = PF_R | PF_W },
	};

	*core = (struct corefile){ .machine = machine };
	core_add(core, &header, sizeof(header));
	core_add(core, programs, sizeof(programs));
	core->notes = core->length;
	core_thread(core, CORE_PID + threads - 1, SIGSEGV);
	core_psinfo(core);
	core_siginfo(core);
	core_files(core);
	for (int i = 0; i < threads - 1; i++)
		core_thread(core, CORE_PID + i, 0);
	programs[0].p_offset = core->notes;
	programs[0].p_filesz = core->length - core->notes;
	core_pad(core, -core->length & (CORE_PAGE - 1));
	for (int i = 1; i < 3; i++) {
		programs[i].p_offset = core->length + (unsigned)(i - 1) * CORE_PAGE;
		programs[i].p_filesz = programs[i].p_memsz = CORE_PAGE;
	}
	memcpy(core->bytes + sizeof(header), programs, sizeof(programs));
	core_memory(core);
}

static inline void core_make(struct corefile *core, int threads)
{
	core_make_for(core, threads, CORE_MACHINE);
}

#endif
