/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling a struct pmp_error. All accept err == NULL and return the code. */
#ifndef PMP_BASE_ERROR_H
#define PMP_BASE_ERROR_H

#include "libpmp.h"

/* Sets message to the formatted text, and empties hint. */
int pmp_error_set(struct pmp_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, followed by ": strerror(sys_errno)". */
int pmp_error_sys(struct pmp_error *err, int code, int sys_errno, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Set the hint: the next step to take. */
void pmp_error_hint(struct pmp_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Sets "not enough memory" with what was being done; returns PMP_ENOMEM. */
int pmp_error_nomem(struct pmp_error *err, const char *what);

#endif
