/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a process ended, of its core file, in words. */
#ifndef PMP_WRITE_CRASH_TEXT_H
#define PMP_WRITE_CRASH_TEXT_H

#include "base/buf.h"
#include "report/report.h"

/* "SIGSEGV", "SIGRTMIN+3"; NULL: it has no name. text, of 16 bytes, may be used. */
const char *pmp_signal_name(int number, char *text);
/* "SEGV_MAPERR", or NULL. */
const char *pmp_signal_code_name(int number, int code);
/* Append "SIGSEGV (11), SEGV_MAPERR (1), address 0x10, in LWP 4102", or that there was no
 * signal. */
void pmp_crash_text(struct pmp_buf *buf, const struct pmp_crash *crash);

#endif
