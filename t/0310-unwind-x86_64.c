/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwinder on x86-64. First the test's own stack, by call-frame information,
 * against what the compiler's run-time library finds; then code without any, of hand-made
 * words and instructions.
 */
#include "tap.h"

#ifdef __x86_64__

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>

#include "unwind/arch.h"
#include "unwind/walk.h"
#include "fakeproc.h"

#define FRAMES 4096

enum { RBP = 6, RSP = 7, RIP = 16 };

/* ---- the test's own stack ------------------------------------------------------- */

static struct self {
	struct pmp_unwinder *unwinder;
	struct pmp_reader memory;
	struct pmp_maps *maps;
	struct pmp_raw_frame frames[FRAMES];
	struct pmp_walk walk;
	uint64_t expected[FRAMES];
	int expected_count;
	ucontext_t main_context, other_context;
	jmp_buf out;

	/* Of libgcc itself: libunwind, which is linked too, has them as well. */
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	_Unwind_Ptr (*get_ip)(struct _Unwind_Context *);
} self;

/* ucontext's order of the registers, by DWARF number */
static void regs_from(const ucontext_t *context, struct pmp_regs *regs)
{
	static const int order[17] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
				       REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
				       REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
				       REG_R15, REG_RIP };

	memset(regs, 0, sizeof(*regs));
	for (int i = 0; i < 17; i++)
		pmp_regs_set(regs, i, (uint64_t)context->uc_mcontext.gregs[order[i]]);
}

static _Unwind_Reason_Code expect(struct _Unwind_Context *context, void *arg)
{
	uint64_t pc = self.get_ip(context);

	(void)arg;
	if (pc && self.expected_count < FRAMES) /* it ends with a 0 */
		self.expected[self.expected_count++] = pc;
	return _URC_NO_REASON;
}

__attribute__((noinline)) static void collect(void)
{
	ucontext_t context;
	struct pmp_regs regs;

	getcontext(&context);
	regs_from(&context, &regs);
	self.walk.frames = self.frames;
	self.walk.limit = FRAMES;
	if (pmp_walk(self.unwinder, &regs, &self.memory, &self.walk))
		abort();
	self.expected_count = 0;
	self.backtrace(expect, NULL);
}

/* All but the innermost frame, which is at two places of collect(). */
static void compare(const char *what)
{
	int wrong = 0;

	if (!is_int((int)self.walk.count, self.expected_count, "%s: number of frames",
		    what))
		wrong = 1;
	for (int i = 1; i < self.expected_count && i < (int)self.walk.count; i++) {
		if (self.frames[i].pc == self.expected[i])
			continue;
		wrong++;
		diag("frame %d: %#" PRIx64 ", expected %#" PRIx64, i, self.frames[i].pc,
		     self.expected[i]);
	}
	is_int(wrong, 0, "%s: every pc is libgcc's", what);
	is_str(pmp_end_text(self.walk.end), pmp_end_text(PMP_END_ROOT), "%s: end", what);
}

static volatile int sink;

__attribute__((noinline)) static void f0(void)
{
	collect();
	sink++;
}

__attribute__((noinline)) static void f1(void)
{
	f0();
	sink++;
}

__attribute__((noinline)) static void f2(void)
{
	volatile char room[3000];

	room[0] = 1;
	f1();
	sink += room[0];
}

/* Its frame is found by an expression or by rbp: the size is not known. */
__attribute__((noinline)) static void f3(size_t size)
{
	volatile char *room = __builtin_alloca(size);

	room[0] = 1;
	f2();
	sink += room[0];
}

/* A frame aligned to 256 bytes: the CFA is an expression. */
__attribute__((noinline)) static void aligned(void)
{
	volatile char room[256] __attribute__((aligned(256)));

	room[0] = 1;
	f3(1234);
	sink += room[0];
}

__attribute__((noinline)) static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		collect();
	sink++;
}

static void handler(int number)
{
	sink += number;
	f2();
}

static int compare_ints(const void *a, const void *b)
{
	if (!sink++)
		f1();
	return *(const int *)a - *(const int *)b;
}

static void coroutine(void)
{
	f2();
}

/*
 * A call that does not return is the last instruction of its function; the next
 * one begins right behind it with rules of its own.
 */
void asm_last(void);
void asm_root(void);
__attribute__((used)) void asm_collect(void);

__asm__(".pushsection .text\n"
	".p2align 4\n"
	".globl asm_last\n"
	"asm_last:\n"
	".cfi_startproc\n"
	"	sub $72, %rsp\n"
	".cfi_def_cfa_offset 80\n"
	"	call asm_collect\n"
	".cfi_endproc\n"
	"asm_behind:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 24\n"
	"	ret\n"
	".cfi_endproc\n"
	".skip 32, 0x90\n" /* padding, that no FDE covers */
	".globl asm_root\n"
	"asm_root:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	hlt\n"
	".cfi_endproc\n"
	".popsection\n");

void asm_collect(void)
{
	collect();
	longjmp(self.out, 1);
}

static void test_self_signal(void)
{
	static char other_stack[64 << 10];
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };
	struct sigaction action = { .sa_handler = handler };
	size_t trampoline = 0;

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	compare("signal handler");
	for (size_t i = 0; i < self.walk.count; i++)
		if (self.frames[i].flags & PMP_FRAME_SIGNAL)
			trampoline = i;
	ok(trampoline > 0, "the trampoline is marked");
	ok(self.frames[trampoline + 1].flags & PMP_FRAME_EXACT, "its victim is exact");
	ok(!(self.frames[trampoline].flags & PMP_FRAME_EXACT), "itself is not");

	action.sa_flags = SA_ONSTACK;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	compare("signal handler on its own stack");
}

static void test_self_contexts(void)
{
	static char stack[128 << 10];

	getcontext(&self.other_context);
	self.other_context.uc_stack.ss_sp = stack;
	self.other_context.uc_stack.ss_size = sizeof(stack);
	self.other_context.uc_link = &self.main_context;
	makecontext(&self.other_context, coroutine, 0);
	swapcontext(&self.main_context, &self.other_context);
	compare("makecontext");

	if (!setjmp(self.out))
		asm_last();
	compare("a call as a function's last instruction");
}

/* asm_root put there as the return address by hand. */
static void test_self_root(void)
{
	uint64_t words[4] = { (uintptr_t)asm_root, 0, 0, 0 };
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, RIP, (uintptr_t)f1);
	pmp_regs_set(&regs, RSP, (uintptr_t)words);
	pmp_regs_set(&regs, RBP, 0);
	self.walk.limit = FRAMES;
	pmp_walk(self.unwinder, &regs, &self.memory, &self.walk);
	is_int((int)self.walk.count, 2, "first byte after padding: two frames");
	is_int(self.walk.end, PMP_END_ROOT,
	       "first byte after padding: its own information");
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Reads this process as plain memory: what a copy of the stack costs. */
static bool direct_read(void *arg, uint64_t address, void *data, size_t length)
{
	(void)arg;
	memcpy(data, (const void *)(uintptr_t)address, length);
	return true;
}

__attribute__((noinline)) static void measure(int depth)
{
	struct pmp_reader direct = { .read = direct_read };
	ucontext_t context;
	struct pmp_regs regs;
	uint64_t start;
	volatile uint64_t best = UINT64_MAX;

	if (depth) {
		measure(depth - 1);
		sink++;
		return;
	}
	getcontext(&context);
	regs_from(&context, &regs);
	for (int i = 0; i < 100; i++) {
		start = now();
		pmp_walk(self.unwinder, &regs, &direct, &self.walk);
		if (now() - start < best)
			best = now() - start;
	}
	diag("%zu frames: %" PRIu64 " ns a frame", self.walk.count,
	     best / self.walk.count);
}

static void test_self(void)
{
	static int fd;
	int numbers[4] = { 4, 3, 2, 1 };
	void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW);

	if (libgcc) {
		*(void **)&self.backtrace = dlsym(libgcc, "_Unwind_Backtrace");
		*(void **)&self.get_ip = dlsym(libgcc, "_Unwind_GetIP");
	}
	if (!self.backtrace || !self.get_ip) {
		skip("no libgcc_s.so.1 to compare with");
		return;
	}
	self.memory = self_reader(&fd);
	self.maps = self_maps();
	self.unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);
	if (pmp_unwinder_set_maps(self.unwinder, self.maps, &self.memory))
		abort();

	f3(100);
	compare("f3 f2 f1 f0");
	aligned();
	compare("an aligned frame");
	deep(200);
	compare("200 frames");
	deep(200);
	compare("200 frames again");
	sink = 0;
	qsort(numbers, 4, sizeof(*numbers), compare_ints);
	compare("a callback of the C library");
	test_self_signal();
	test_self_contexts();
	test_self_root();
	measure(900);

	pmp_unwinder_free(self.unwinder);
	pmp_maps_unref(self.maps);
	close(fd);
}

/* ---- code without call-frame information ---------------------------------------------
 */

#define CODE UINT64_C(0x401000)
#define STACK UINT64_C(0x7ffe00001000)
#define JIT UINT64_C(0x7f0000000000)

/*
 *	start	401300	31 ed			xor %ebp,%ebp
 *		401302	e8 f9 fc ff ff		call main
 *	main	401000	55			push %rbp
 *		401001	48 89 e5		mov %rsp,%rbp
 *		401004	e8 f7 00 00 00		call func
 *	func	401100	55			push %rbp
 *		401101	48 89 e5		mov %rsp,%rbp
 *		401104	48 83 ec 10		sub $16,%rsp
 *		401108	e8 f3 00 00 00		call leaf
 *		401110	e8 eb 02 00 00		call leaf@plt
 *		401120	ff d0			call *%rax
 *		401122	c9			leave
 *		401123	c3			ret
 *	leaf	401200	31 c0			xor %eax,%eax
 *		401202	ff c0			inc %eax
 *		401204	c3			ret
 *	PLT0	4013f0	ff 35 00 00 00 00	push (%rip)
 *		4013f6	ff 25 00 00 00 00	jmp *(%rip)
 *	plt	401400	ff 25 00 00 00 00	jmp *(%rip)
 *		401406	68 00 00 00 00		push $0
 *		40140b	e9 e0 ff ff ff		jmp PLT0
 *	restore	401500	48 c7 c0 0f 00 00 00	mov $15,%rax
 *		401507	0f 05			syscall
 */
static uint8_t code[0x1000];

static void put(uint64_t address, const char *bytes, size_t size)
{
	memcpy(code + (address - CODE), bytes, size);
}
#define PUT(address, bytes) put((address), (bytes), sizeof(bytes) - 1)

static void make_code(void)
{
	memset(code, 0xcc, sizeof(code));
	PUT(0x401300, "\x31\xed\xe8\xf9\xfc\xff\xff");
	PUT(0x401000, "\x55\x48\x89\xe5\xe8\xf7\0\0\0");
	PUT(0x401100, "\x55\x48\x89\xe5\x48\x83\xec\x10\xe8\xf3\0\0\0");
	PUT(0x401110, "\xe8\xeb\x02\0\0");
	PUT(0x401120, "\xff\xd0\xc9\xc3");
	PUT(0x401200, "\x31\xc0\xff\xc0\xc3");
	PUT(0x4013f0, "\xff\x35\0\0\0\0\xff\x25\0\0\0\0");
	PUT(0x401400, "\xff\x25\0\0\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff");
	PUT(0x401500, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05");
}

static uint64_t words[0x200];

#define AT(offset) words[(offset) / 8]

/* The stack of start, main, func, up to what func calls. */
static void make_stack(uint64_t return_address)
{
	memset(words, 0, sizeof(words));
	AT(0x0f8) = 0x401307;	  /* in start */
	AT(0x0f0) = 0;		  /* start's rbp */
	AT(0x0e8) = 0x401009;	  /* in main */
	AT(0x0e0) = STACK + 0xf0; /* main's rbp */
	AT(0x0d8) = 0x1111;
	AT(0x0d0) = 0x2222;
	AT(0x0c8) = return_address; /* in func */
}

struct process {
	struct fake fake;
	struct pmp_reader memory;
	struct pmp_maps *maps;
	struct pmp_raw_frame frames[32];
	struct pmp_walk walk;
};

static void process_make(struct process *p)
{
	memset(p, 0, sizeof(*p));
	fake_add(&p->fake, CODE, code, sizeof(code));
	fake_add(&p->fake, STACK, words, sizeof(words));
	p->memory = fake_reader(&p->fake);
	p->maps = pmp_maps_new();
	fake_region(p->maps, CODE, sizeof(code), PMP_PROT_READ | PMP_PROT_EXEC,
		    PMP_MODULE_FILE);
	fake_region(p->maps, JIT, 0x10000, PMP_PROT_EXEC, PMP_MODULE_ANON);
	fake_region(p->maps, STACK, sizeof(words), PMP_PROT_READ | PMP_PROT_WRITE,
		    PMP_MODULE_SPECIAL);
}

static void process_walk(struct process *p, enum pmp_unwind mode, uint64_t pc,
			 uint64_t sp, uint64_t fp)
{
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, mode);
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, RIP, pc);
	pmp_regs_set(&regs, RSP, sp);
	pmp_regs_set(&regs, RBP, fp);
	p->walk.frames = p->frames;
	p->walk.limit = 32;
	if (pmp_unwinder_set_maps(unwinder, p->maps, &p->memory) ||
	    pmp_walk(unwinder, &regs, &p->memory, &p->walk))
		abort();
	pmp_unwinder_free(unwinder);
}

/* "401202 40110d 401009 401307 root" */
static const char *process_text(const struct process *p)
{
	static char text[1024];
	size_t length = 0;

	for (size_t i = 0; i < p->walk.count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%" PRIx64 " ", p->frames[i].pc);
	snprintf(text + length, sizeof(text) - length, "%s",
		 p->walk.end == PMP_END_ROOT	  ? "root"
		 : p->walk.end == PMP_END_NO_INFO ? "none"
						  : pmp_end_text(p->walk.end));
	return text;
}

static void test_rules(void)
{
	static const struct {
		const char *name;
		uint64_t pc, sp, fp; /* sp and fp: offsets in the stack */
		uint64_t return_address;
		const char *frames;
	} cases[] = {
		{ "leaf", 0x401202, 0xc8, 0xe0, 0x40110d,
		  "401202 40110d 401009 401307 root" },
		{ "leaf, at its return", 0x401204, 0xc8, 0xe0, 0x40110d,
		  "401204 40110d 401009 401307 root" },
		{ "first byte", 0x401100, 0xe8, 0xf0, 0, "401100 401009 401307 root" },
		{ "rbp pushed", 0x401101, 0xe0, 0xf0, 0, "401101 401009 401307 root" },
		{ "body", 0x401108, 0xd0, 0xe0, 0, "401108 401009 401307 root" },
		{ "return", 0x401123, 0xe8, 0xf0, 0, "401123 401009 401307 root" },
		{ "plt: jump", 0x401400, 0xc8, 0xe0, 0x401115,
		  "401400 401115 401009 401307 root" },
		{ "plt: push", 0x401406, 0xc8, 0xe0, 0x401115,
		  "401406 401115 401009 401307 root" },
		{ "plt: jump on", 0x40140b, 0xc0, 0xe0, 0x401115,
		  "40140b 401115 401009 401307 root" },
		{ "plt0: push", 0x4013f0, 0xc0, 0xe0, 0x401115,
		  "4013f0 401115 401009 401307 root" },
		{ "plt0: jump", 0x4013f6, 0xb8, 0xe0, 0x401115,
		  "4013f6 401115 401009 401307 root" },
		{ "null pointer called", 0, 0xc8, 0xe0, 0x401122,
		  "0 401122 401009 401307 root" },
		{ "wild pointer called", 0x1234, 0xc8, 0xe0, 0x401122,
		  "1234 401122 401009 401307 root" },
		{ "null, but no call behind", 0, 0xc8, 0xe0, 0x401121, "0 none" },
		{ "nobody's frame", 0x401302, 0x100, ~STACK + 1, 0, "401302 none" },
		{ "a wild frame pointer", 0x401108, 0xd0, 0x123456, 0, "401108 none" },
		{ "an odd frame pointer", 0x401108, 0xd0, 0xe1, 0, "401108 none" },
		{ "a frame pointer below sp", 0x401108, 0xd8, 0xd0, 0, "401108 none" },
		{ "no code to be read", JIT + 0x100, 0xd0, 0xe0, 0,
		  "7f0000000100 401009 401307 root" },
	};
	struct process p;

	process_make(&p);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make_stack(cases[i].return_address);
		process_walk(&p, PMP_UNWIND_AUTO, cases[i].pc, STACK + cases[i].sp,
			     STACK + cases[i].fp);
		is_str(process_text(&p), cases[i].frames, "%s", cases[i].name);
	}

	make_stack(0x40110d);
	process_walk(&p, PMP_UNWIND_AUTO, 0x401202, STACK + 0xc8, STACK + 0xe0);
	ok(p.frames[0].flags == PMP_FRAME_EXACT && p.frames[1].flags == PMP_FRAME_FP,
	   "found by a rule: marked");
	is_int((long long)p.walk.top, (long long)STACK + 0x100,
	       "sp of the outermost frame");
	process_walk(&p, PMP_UNWIND_CFI, 0x401202, STACK + 0xc8, STACK + 0xe0);
	is_str(process_text(&p), "401202 40110d none",
	       "no frame-pointer chain when not wanted");
	process_walk(&p, PMP_UNWIND_FP, 0x401202, STACK + 0xc8, STACK + 0xe0);
	is_str(process_text(&p), "401202 40110d 401009 401307 root",
	       "nothing but frame pointers");
	pmp_maps_unref(p.maps);
}

/* The kernel's frame for a handler, which is func; the victim stood in leaf. */
static void test_rule_signal(void)
{
	struct process p;

	process_make(&p);
	make_stack(0x40110d);
	memmove(words + 0x100, words, 0x100); /* leaf's stack: now at 0x800 and on */
	memset(words, 0, 0x800);
	AT(0x8f0) = 0;
	AT(0x8e0) = STACK + 0x8f0;
	AT(0x100) = 0x401500;		  /* func's return address */
	AT(0x108 + 0x78) = STACK + 0x8e0; /* rbp */
	AT(0x108 + 0xa0) = STACK + 0x8c8; /* rsp */
	AT(0x108 + 0xa8) = 0x401200;	  /* rip: a function's first byte */

	process_walk(&p, PMP_UNWIND_AUTO, 0x401100, STACK + 0x100, 0x4444);
	is_str(process_text(&p), "401100 401500 401200 40110d 401009 401307 root",
	       "signal frame without information");
	ok(p.frames[1].flags & PMP_FRAME_SIGNAL, "signal frame: marked");
	is_int((long long)p.frames[2].flags, PMP_FRAME_EXACT,
	       "signal frame: its victim is exact");

	AT(0x108 + 0xa8) = 0;
	AT(0x8c8) = 0x401122;
	process_walk(&p, PMP_UNWIND_AUTO, 0x401507, STACK + 0x108, 0);
	is_str(process_text(&p), "401507 0 401122 401009 401307 root",
	       "a null pointer was called, in the trampoline's system call");
	pmp_maps_unref(p.maps);
}

static void test_calls(void)
{
	static const struct {
		const char *name;
		size_t size;
		const char *bytes;
		bool is_call;
	} cases[] = {
		{ "call rel32", 5, "\xe8\x10\0\0\0", true },
		{ "call *%rax", 2, "\xff\xd0", true },
		{ "call *%r11", 3, "\x41\xff\xd3", true },
		{ "call *(%rax)", 2, "\xff\x10", true },
		{ "call *8(%rax)", 3, "\xff\x50\x08", true },
		{ "call *(%rsp)", 3, "\xff\x14\x24", true },
		{ "call *8(%rsp)", 4, "\xff\x54\x24\x08", true },
		{ "call *disp(%rip)", 6, "\xff\x15\0\0\0\0", true },
		{ "call *disp32(%rax)", 6, "\xff\x90\0\x01\0\0", true },
		{ "call *disp32(%rax,%rcx,8)", 7, "\xff\x94\xc8\0\x01\0\0", true },
		{ "call *disp32(,%rax,8)", 7, "\xff\x14\xc5\0\x01\0\0", true },
		{ "jmp *%rax", 2, "\xff\xe0", false },
		{ "jmp rel32", 5, "\xe9\x10\0\0\0", false },
		{ "push %rbp; mov %rsp,%rbp", 4, "\x55\x48\x89\xe5", false },
		{ "ret", 1, "\xc3", false },
	};
	struct fake fake = { .count = 0 };
	struct pmp_reader reader = fake_reader(&fake);
	uint8_t bytes[32] = { 0 };
	uint64_t target;

	fake_add(&fake, 0x1000, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(bytes, 0x90, sizeof(bytes));
		memcpy(bytes + 16 - cases[i].size, cases[i].bytes, cases[i].size);
		is_int(pmp_arch_x86_64.follows_call(&reader, 0x1010, &target),
		       cases[i].is_call, "%s", cases[i].name);
	}
	memcpy(bytes, "\xe8\x0b\0\0\0", 5);
	ok(pmp_arch_x86_64.follows_call(&reader, 0x1005, &target) && target == 0x1010,
	   "a call at the start of readable memory, and its target");
	ok(!pmp_arch_x86_64.follows_call(&reader, 0x5000, NULL), "nothing to be read");
	ok(!pmp_arch_x86_64.follows_call(&reader, 0, NULL), "address 0");
}

static void test_trampolines(void)
{
	struct fake fake = { .count = 0 };
	struct pmp_reader reader = fake_reader(&fake);

	fake_add(&fake, 0x1000, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	fake_add(&fake, 0x2000, "\xb8\x0f\0\0\0\x0f\x05", 7);
	fake_add(&fake, 0x3000, "\xb8\x0e\0\0\0\x0f\x05\x90\x90", 9);
	ok(pmp_arch_x86_64.is_sigreturn(&reader, 0x1000), "mov $15,%%rax; syscall");
	ok(pmp_arch_x86_64.is_sigreturn(&reader, 0x1007), "at its syscall");
	ok(pmp_arch_x86_64.is_sigreturn(&reader, 0x2000), "mov $15,%%eax; syscall");
	ok(pmp_arch_x86_64.is_sigreturn(&reader, 0x2005), "at its syscall");
	ok(!pmp_arch_x86_64.is_sigreturn(&reader, 0x3000), "another system call");
	ok(!pmp_arch_x86_64.is_sigreturn(&reader, 0x3005), "at its syscall");
	ok(!pmp_arch_x86_64.is_sigreturn(&reader, 0x4000), "nothing to be read");
}

int main(void)
{
	test_self();
	make_code();
	test_rules();
	test_rule_signal();
	test_calls();
	test_trampolines();
	return done_testing();
}

#else

TAP_ONLY_SKIPS("not an x86-64 host")

#endif
