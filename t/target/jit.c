/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit [perf|FILE]: code made at run time in anonymous memory, with frame pointers:
 * the thread "jit" is in jit_inner jit_outer jit_caller. The first two are named by
 * a perf map, written to its usual place (perf) or to FILE.
 *
 * Verdict: the code gave what it had to.
 */
#include "target.h"

#include <sys/mman.h>

#define CODE_SIZE 4096
#define INNER_OFFSET 32

static atomic_int ended, result;
static unsigned char *code;

/* One instruction a line. */
/* clang-format off */
#if defined __x86_64__
static const unsigned char outer_code[] = {
	0x55,				/* push %rbp */
	0x48, 0x89, 0xe5,		/* mov %rsp,%rbp */
	0xe8, INNER_OFFSET - 9, 0, 0, 0,	/* call inner */
	0x5d,				/* pop %rbp */
	0xc3,				/* ret */
};

static const unsigned char inner_code[] = {
	0x55,				/* push %rbp */
	0x48, 0x89, 0xe5,		/* mov %rsp,%rbp */
	0x8b, 0x07,			/* 4: mov (%rdi),%eax */
	0x85, 0xc0,			/* test %eax,%eax */
	0x74, 0xfa,			/* je 4 */
	0x5d,				/* pop %rbp */
	0xc3,				/* ret */
};
#elif defined __aarch64__
static const uint32_t outer_code[] = {
	0xa9bf7bfd,			/* stp x29, x30, [sp, #-16]! */
	0x910003fd,			/* mov x29, sp */
	0x94000006,			/* bl inner */
	0xa8c17bfd,			/* ldp x29, x30, [sp], #16 */
	0xd65f03c0,			/* ret */
};

static const uint32_t inner_code[] = {
	0xa9bf7bfd,			/* stp x29, x30, [sp, #-16]! */
	0x910003fd,			/* mov x29, sp */
	0xb9400001,			/* 8: ldr w1, [x0] */
	0x34ffffe1,			/* cbz w1, 8 */
	0x2a0103e0,			/* mov w0, w1 */
	0xa8c17bfd,			/* ldp x29, x30, [sp], #16 */
	0xd65f03c0,			/* ret */
};
#endif
/* clang-format on */

static NOINLINE int jit_caller(int gain)
{
	int (*outer)(atomic_int * flag);

	memcpy(&outer, &code, sizeof outer);
	return outer(&ended) + gain;
}

static void jit_main(void *arg)
{
	result = jit_caller(1);
	(void)arg;
}

static void write_map(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		target_die(path);
	fprintf(file, "%lx %zx jit_outer\n", (unsigned long)(uintptr_t)code,
		sizeof outer_code);
	fprintf(file, "%lx %zx jit_inner\n",
		(unsigned long)(uintptr_t)(code + INNER_OFFSET), sizeof inner_code);
	fclose(file);
}

int main(int argc, char **argv)
{
	char path[64];

	target_begin();
	code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (code == MAP_FAILED)
		target_die("mmap");
	memcpy(code, outer_code, sizeof outer_code);
	memcpy(code + INNER_OFFSET, inner_code, sizeof inner_code);
	__builtin___clear_cache((char *)code, (char *)code + CODE_SIZE);
	if (mprotect(code, CODE_SIZE, PROT_READ | PROT_EXEC))
		target_die("mprotect");
	if (argc > 1) {
		snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
		write_map(strcmp(argv[1], "perf") == 0 ? path : argv[1]);
	}
	target_thread("jit", jit_main, NULL);
	target_ready();
	target_wait_end();
	ended = 1;
	while (!result)
		target_nap(1);
	if (argc > 1 && strcmp(argv[1], "perf") == 0)
		unlink(path);
	if (result != 2)
		target_verdict("the code gave %d", (int)result);
	target_verdict(NULL);
}
