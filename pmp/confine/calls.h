/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system calls a process may make from now on: a filter of the kernel's
 * (seccomp(2)), made of a list.
 */
#ifndef PMP_CONFINE_CALLS_H
#define PMP_CONFINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The 32-bit halves of a call's argument, from 0 on: most are an int, which is the low one. */
#define CONFINE_LOW(argument) (2 * (argument))
#define CONFINE_HIGH(argument) (2 * (argument) + 1)

/* (the half of an argument & mask) == value */
struct confine_test {
	uint8_t half;
	uint32_t mask, value;
};

enum confine_action {
	CONFINE_ALLOW,
	CONFINE_ABSENT,	 /* it fails with ENOENT: there is no such file */
	CONFINE_UNKNOWN, /* with ENOSYS: this kernel has no such call */
	CONFINE_TRAP,	 /* it is not made, and SIGSYS comes */
	CONFINE_END,	 /* it ends the process, by SIGSYS */
};

/* A call whose arguments pass all tests. */
struct confine_call {
	uint32_t number;
	enum confine_action action;
	uint8_t tests; /* how many there are */
	struct confine_test test[2];
};

/* Rows of a table: a call that may be made, one that ends the process, and one that may be
 * made if a half of an argument, masked, has this value. SYS_ is of sys/syscall.h. */
#define ALLOW(name) \
	{ \
		.number = SYS_##name \
	}
#define END(name) \
	{ \
		.number = SYS_##name, .action = CONFINE_END \
	}
#define ALLOW_IF(name, half, mask, value) \
	{ \
		SYS_##name, CONFINE_ALLOW, 1, \
		{ \
			{ \
				half, mask, value \
			} \
		} \
	}

/**
 * The first that fits counts; for all other calls, otherwise. A call of another architecture
 * ends the process. Sets PR_SET_NO_NEW_PRIVS. False: the kernel cannot, or not on this
 * architecture. Nothing is done in a build with sanitizers, which need more calls.
 */
bool confine_calls(const struct confine_call *calls, size_t count,
		   enum confine_action otherwise);

#endif
