/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wild guard|nowhere|kernel|cycle|self|end: the thread "wild" computes in wild_spin
 * with a stack pointer and a frame pointer that no unwinder should trust: at a
 * page that may not be read, at nothing, in the kernel's half, with frame
 * records that point at each other or at themselves, or at the last word there is.
 * wild_spin has no call-frame information. With a second word, "asleep", it sleeps
 * in a system call that it makes from memory of no file.
 *
 * Verdict: it found its own stack again.
 */
#include "target.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGE 4096

typedef int wild_function(uint64_t sp, uint64_t fp, atomic_int *flag);

wild_function wild_spin, wild_sleep, wild_sleep_end;

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
	".size wild_spin, . - wild_spin\n"
	".globl wild_sleep, wild_sleep_end\n"
	"wild_sleep:\n"
	"	push %rbp\n"
	"	mov %rsp, %r8\n"
	"	mov %rdi, %rsp\n"
	"	mov %rsi, %rbp\n"
	"	mov %rdx, %rdi\n"
	"0:	mov $202, %eax\n" /* futex */
	"	mov $128, %esi\n" /* FUTEX_WAIT_PRIVATE */
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	syscall\n"
	"	cmpl $0, (%rdi)\n"
	"	je 0b\n"
	"	mov %r8, %rsp\n"
	"	pop %rbp\n"
	"	mov $1, %eax\n"
	"	ret\n"
	"wild_sleep_end:\n");
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
	".size wild_spin, . - wild_spin\n"
	".globl wild_sleep, wild_sleep_end\n"
	"wild_sleep:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x9, sp\n"
	"	mov x10, x2\n"
	"	mov sp, x0\n"
	"	mov x29, x1\n"
	"0:	mov x0, x10\n"
	"	mov x1, #128\n" /* FUTEX_WAIT_PRIVATE */
	"	mov x2, #0\n"
	"	mov x3, #0\n"
	"	mov x8, #98\n" /* futex */
	"	svc #0\n"
	"	ldr w4, [x10]\n"
	"	cbz w4, 0b\n"
	"	mov sp, x9\n"
	"	ldp x29, x30, [sp], #16\n"
	"	mov w0, #1\n"
	"	ret\n"
	"wild_sleep_end:\n");
#endif

static atomic_int ended, result;
static uint64_t wild_sp, wild_fp;
static wild_function *wild = wild_spin;

static void wild_main(void *arg)
{
	result = wild(wild_sp, wild_fp, &ended) + 1;
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
	} else if (strcmp(how, "end") == 0) {
		wild_sp = 0xfffffffffffffff0;
		wild_fp = 0xfffffffffffffff0;
	} else {
		make_cycle((uint64_t *)memory, strcmp(how, "self") == 0);
	}
}

/* Where there is no call-frame information, nor may be, a frame pointer is looked for. */
static void make_asleep(void)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *code = (const char *)(uintptr_t)wild_sleep;

	if (memory == MAP_FAILED)
		target_die("mmap");
	memcpy(memory, code, (size_t)((const char *)(uintptr_t)wild_sleep_end - code));
	__builtin___clear_cache(memory, (char *)memory + PAGE);
	wild = (wild_function *)(uintptr_t)memory;
}

int main(int argc, char **argv)
{
	bool asleep = argc > 2 && strcmp(argv[2], "asleep") == 0;
	pid_t tid;

	target_begin();
	make_wild(argc > 1 ? argv[1] : "nowhere");
	if (asleep)
		make_asleep();
	tid = target_thread("wild", wild_main, NULL);
	if (asleep)
		target_wait_asleep(tid);
	target_ready();
	target_wait_end();
	ended = 1;
	syscall(SYS_futex, &ended, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	while (!result)
		target_nap(1);
	if (result != 2)
		target_verdict("wild_spin gave %d", (int)result);
	target_verdict(NULL);
}
