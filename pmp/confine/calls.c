/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See calls.h; seccomp(2) has the form of a filter. */
#include "confine/calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define LOAD(offset) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset))
#define SKIP_UNLESS(value, count) \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count))
#define AND(mask) ((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask))
#define RETURN(value) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value))

#define BEGIN_LENGTH 3
#define CALL_LENGTH 3 /* without its tests */
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

/* Returns how many instructions it is. */
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

bool confine_calls(const struct confine_call *calls, size_t count,
		   enum confine_action otherwise)
{
	const size_t most = CALL_LENGTH + 2 * TEST_LENGTH;
	struct sock_filter *filter =
		calloc(BEGIN_LENGTH + count * most + 1, sizeof(*filter));
	size_t length = 0;
	bool installed;

	if (!filter)
		return false;
	filter[length++] = LOAD(offsetof(struct seccomp_data, arch));
	filter[length] = SKIP_UNLESS(ARCHITECTURE, 0);
	filter[length].jt = 1;
	length++;
	filter[length++] = RETURN(SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < count; i++)
		length += add_call(filter + length, &calls[i]);
	filter[length++] = RETURN(verdict(otherwise));
	installed = install(filter, length);
	free(filter);
	return installed;
}

#else

bool confine_calls(const struct confine_call *calls, size_t count,
		   enum confine_action otherwise)
{
	(void)calls;
	(void)count;
	(void)otherwise;
#ifdef SANITIZED
	return true;
#else
	return false;
#endif
}

#endif
