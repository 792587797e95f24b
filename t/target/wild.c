/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wild guard|nowhere|kernel|cycle|self: the thread "wild" computes in wild_spin
 * with a stack pointer and a frame pointer that no unwinder should trust: at a
 * page that may not be read, at nothing, in the kernel's half, or with frame
 * records that point at each other or at themselves. wild_spin has no
 * call-frame information.
 *
 * Verdict: it found its own stack again.
 */
#include "target.h"

#include <sys/mman.h>

#define PAGE 4096

int wild_spin(uint64_t sp, uint64_t fp, atomic_int *flag);

#if defined __x86_64__
__asm__(".text\n"
	".globl wild_spin\n"
	".type wild_spin, @function\n"
	"wild_spin:\n"
	"	push %rbp\n"
	"	mov %rsp, %r8\n"
	"	mov %rdi, %rsp\n"
	"	mov %rsi, %rbp\n"
	"0:	cmpl $0, (%rdx)\n"
	"	je 0b\n"
	"	mov %r8, %rsp\n"
	"	pop %rbp\n"
	"	mov $1, %eax\n"
	"	ret\n"
	".size wild_spin, . - wild_spin\n");
#elif defined __aarch64__
__asm__(".text\n"
	".globl wild_spin\n"
	".type wild_spin, %function\n"
	"wild_spin:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x3, sp\n"
	"	mov sp, x0\n"
	"	mov x29, x1\n"
	"0:	ldr w4, [x2]\n"
	"	cbz w4, 0b\n"
	"	mov sp, x3\n"
	"	ldp x29, x30, [sp], #16\n"
	"	mov w0, #1\n"
	"	ret\n"
	".size wild_spin, . - wild_spin\n");
#endif

static atomic_int ended, result;
static uint64_t wild_sp, wild_fp;

static void wild_main(void *arg)
{
	result = wild_spin(wild_sp, wild_fp, &ended) + 1;
	(void)arg;
}

/* Two frame records at memory that point at each other (or the first at itself),
 * with return addresses into wild_main, where a call precedes. */
static void make_cycle(uint64_t *memory, bool self)
{
	uint64_t code = (uint64_t)(uintptr_t)wild_main + 20;

	memory[100] = (uint64_t)(uintptr_t)&memory[self ? 100 : 200];
	memory[101] = code;
	memory[200] = (uint64_t)(uintptr_t)&memory[100];
	memory[201] = code;
	wild_sp = (uint64_t)(uintptr_t)&memory[16];
	wild_fp = (uint64_t)(uintptr_t)&memory[100];
}

static void make_wild(const char *how)
{
	char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		target_die("mmap");
	memset(memory, 0x5a, 2 * PAGE); /* zeros would mark the end of a stack */
	if (strcmp(how, "guard") == 0) {
		if (mprotect(memory, PAGE, PROT_NONE))
			target_die("mprotect");
		wild_sp = (uint64_t)(uintptr_t)memory + PAGE - 64;
		wild_fp = wild_sp + 32;
	} else if (strcmp(how, "nowhere") == 0) {
		wild_sp = 0x123450;
		wild_fp = 0xfffffffffffffff0;
	} else if (strcmp(how, "kernel") == 0) {
		wild_sp = 0xffffffff81000000;
		wild_fp = 0xffffffff81000040;
	} else {
		make_cycle((uint64_t *)memory, strcmp(how, "self") == 0);
	}
}

int main(int argc, char **argv)
{
	target_begin();
	make_wild(argc > 1 ? argv[1] : "nowhere");
	target_thread("wild", wild_main, NULL);
	target_ready();
	target_wait_end();
	ended = 1;
	while (!result)
		target_nap(1);
	if (result != 2)
		target_verdict("wild_spin gave %d", (int)result);
	target_verdict(NULL);
}
