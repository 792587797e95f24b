/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copying registers and memory with inline assembly, as a compiler may turn a loop into a
 * call of memcpy(). The registers and their order are those of heap/registers.h, which pmp
 * unwinds from.
 */
#ifndef PMP_HEAP_RECORDER_COPY_H
#define PMP_HEAP_RECORDER_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "heap/protocol.h"
#include "heap/registers.h"

static inline __attribute__((always_inline)) const char *copy_stack_pointer(void)
{
	const char *sp;

#ifdef __x86_64__
	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#else
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
	return sp;
}

/* Callee-saved registers, sp and pc. */
static inline __attribute__((always_inline)) void copy_registers(uint64_t *regs)
{
#ifdef __x86_64__
	__asm__ volatile("movq %%rbx, (%0)\n\t"
			 "movq %%rbp, 8(%0)\n\t"
			 "movq %%r12, 16(%0)\n\t"
			 "movq %%r13, 24(%0)\n\t"
			 "movq %%r14, 32(%0)\n\t"
			 "movq %%r15, 40(%0)\n\t"
			 "movq %%rsp, 48(%0)\n\t"
			 "leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 56(%0)"
			 :
			 : "D"(regs)
			 : "rax", "memory");
#else
	__asm__ volatile("stp x19, x20, [%0]\n\t"
			 "stp x21, x22, [%0, 16]\n\t"
			 "stp x23, x24, [%0, 32]\n\t"
			 "stp x25, x26, [%0, 48]\n\t"
			 "stp x27, x28, [%0, 64]\n\t"
			 "stp x29, x30, [%0, 80]\n\t"
			 "mov x9, sp\n\t"
			 "adr x10, .\n\t"
			 "stp x9, x10, [%0, 96]"
			 :
			 : "r"(regs)
			 : "x9", "x10", "memory");
#endif
}

static inline void copy_memory(void *to, const void *from, size_t size)
{
#ifdef __x86_64__
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
	uint64_t *out = to;
	const uint64_t *in = from;

	for (; size >= 8; size -= 8) {
		*out++ = *in++;
		__asm__ volatile("" : : : "memory");
	}
#endif
}

#endif
