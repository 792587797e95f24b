/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See calls.h, and seccomp(2) for the form of a filter. */
#include "confine/calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "base/sanitized.h"

#if !SANITIZED && defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_NUMBERS 0x40000000U /* x32: the same calls with other numbers */
#elif !SANITIZED && defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define LOAD(offset) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset))
#define SKIP_UNLESS(value, count) \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count))
#define AND(mask) ((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask))
#define RETURN(value) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value))

#define LENGTH_MAX 2048
#define CALL_LENGTH 3 /* without tests */
#define TEST_LENGTH 3

static uint32_t verdict(enum confine_action action)
{
	switch (action) {
	case CONFINE_ALLOW: return SECCOMP_RET_ALLOW;
	case CONFINE_ABSENT: return SECCOMP_RET_ERRNO | ENOENT;
	case CONFINE_UNKNOWN: return SECCOMP_RET_ERRNO | ENOSYS;
	case CONFINE_TRAP: return SECCOMP_RET_TRAP;
	case CONFINE_END: break;
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Both architectures are little-endian: the low half of an argument comes first. */
static uint32_t offset_of(uint8_t half)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + half * sizeof(uint32_t));
}

/* Returns the number of instructions. */
static size_t add_call(struct sock_filter *filter, const struct confine_call *call)
{
	const size_t length = CALL_LENGTH + (size_t)TEST_LENGTH * call->tests;
	size_t n = 0;

	filter[n++] = LOAD(offsetof(struct seccomp_data, nr));
	filter[n] = SKIP_UNLESS(call->number, (uint8_t)(length - n - 1));
	n++;
	for (size_t i = 0; i < call->tests; i++) {
		filter[n++] = LOAD(offset_of(call->test[i].half));
		filter[n++] = AND(call->test[i].mask);
		filter[n] = SKIP_UNLESS(call->test[i].value, (uint8_t)(length - n - 1));
		n++;
	}
	filter[n++] = RETURN(verdict(call->action));
	return n;
}

static bool install(struct sock_filter *filter, size_t length)
{
	const struct sock_fprog program = { .len = (unsigned short)length,
					    .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Does not allocate memory: the caller may have been forked by a process with threads. */
bool confine_calls(const struct confine_call *calls, size_t count,
		   enum confine_action otherwise)
{
	struct sock_filter filter[LENGTH_MAX];
	size_t length = 0;

	filter[length++] = LOAD(offsetof(struct seccomp_data, arch));
	filter[length] = SKIP_UNLESS(ARCHITECTURE, 0);
	filter[length].jt = 1;
	length++;
	filter[length++] = RETURN(SECCOMP_RET_KILL_PROCESS);
#ifdef OTHER_NUMBERS
	filter[length++] = LOAD(offsetof(struct seccomp_data, nr));
	filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
							OTHER_NUMBERS, 0, 1);
	filter[length++] = RETURN(SECCOMP_RET_KILL_PROCESS);
#endif
	for (size_t i = 0; i < count; i++) {
		if (length + CALL_LENGTH + CONFINE_TESTS * TEST_LENGTH >= LENGTH_MAX)
			return false;
		length += add_call(filter + length, &calls[i]);
	}
	filter[length++] = RETURN(verdict(otherwise));
	return install(filter, length);
}

#else

bool confine_calls(const struct confine_call *calls, size_t count,
		   enum confine_action otherwise)
{
	(void)calls;
	(void)count;
	(void)otherwise;
	return SANITIZED;
}

#endif
