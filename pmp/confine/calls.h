/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a seccomp(2) filter from a list of the system calls that a process may make.
 */
#ifndef PMP_CONFINE_CALLS_H
#define PMP_CONFINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The 32-bit halves of a call's arguments, which count from 0; an int is the low half. */
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
	CONFINE_UNKNOWN, /* it fails with ENOSYS: the kernel has no such call */
	CONFINE_TRAP,	 /* it is not made, but raises SIGSYS */
	CONFINE_END,	 /* it kills the process with SIGSYS */
};

enum { CONFINE_TESTS = 4 };

/* A call whose arguments pass all tests. */
struct confine_call {
	uint32_t number;
	enum confine_action action;
	uint8_t tests; /* the number of tests */
	struct confine_test test[CONFINE_TESTS];
};

/* Rows of a table: a call that may be made, one that kills the process, and one that may be
 * made if a half of an argument, masked, has a value. SYS_ is from sys/syscall.h. */
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
 * Install the filter: the first row that matches applies; for all other calls, `otherwise`.
 * A call of another architecture kills the process. Sets PR_SET_NO_NEW_PRIVS. False: not
 * supported by the kernel or for this architecture. Does nothing in a build with
 * sanitizers, which need more calls.
 */
bool confine_calls(const struct confine_call *calls, size_t count,
		   enum confine_action otherwise);

#endif
