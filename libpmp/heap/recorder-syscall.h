/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls without the C library, which do not change errno. */
#ifndef PMP_HEAP_RECORDER_SYSCALL_H
#define PMP_HEAP_RECORDER_SYSCALL_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#define SYS_ARGUMENTS 6

/* Returns the result, or a negative errno. */
static inline long sys_call_all(long number, const long arguments[SYS_ARGUMENTS])
{
#ifdef __x86_64__
	const long d = arguments[3], e = arguments[4], f = arguments[5];
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]),
			   "d"(arguments[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = arguments[0];
	register long x1 __asm__("x1") = arguments[1];
	register long x2 __asm__("x2") = arguments[2];
	register long x3 __asm__("x3") = arguments[3];
	register long x4 __asm__("x4") = arguments[4];
	register long x5 __asm__("x5") = arguments[5];

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#endif
}

/* A system call with at most three arguments. */
static inline long sys_call(long number, long a, long b, long c)
{
	const long arguments[SYS_ARGUMENTS] = { a, b, c };

	return sys_call_all(number, arguments);
}

/* Wait until a word in shared memory is no longer 0, for at most so many ns (below 1 s). */
static inline void sys_wait_for(const uint32_t *word, long ns)
{
	struct timespec time = { 0, ns };
	const long arguments[SYS_ARGUMENTS] = { (long)word, FUTEX_WAIT, 0, (long)&time };

	sys_call_all(SYS_futex, arguments);
}

static inline void *sys_mmap(void *address, size_t size, int prot, int flags, int fd,
			     uint64_t offset)
{
	const long arguments[SYS_ARGUMENTS] = { (long)address, (long)size, prot,
						flags,	       fd,	   (long)offset };
	const long result = sys_call_all(SYS_mmap, arguments);

	return result < 0 && result > -4096 ? NULL : (void *)result;
}

#endif
