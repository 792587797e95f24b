/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the process of a core file ended. */
#ifndef PMP_CRASH_H
#define PMP_CRASH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_buf;

struct pmp_crash {
	bool is;      /* the sample is of a core file */
	int signal;   /* 0: none; a debugger has written it of a process that lived on */
	int code;     /* si_code */
	pid_t tid;    /* the thread that got it; 0: none */
	pid_t sender; /* the process that sent it; 0: none, or not known */
	bool has_address;
	uint64_t address; /* that it is about: of the fault, of the instruction */
	char args[96]; /* of the process, raw bytes, cut off by the kernel; "" unknown */
};

/* "SIGSEGV", "SIGRTMIN+3"; NULL: it has no name. text, of 16 bytes, may be used. */
const char *pmp_signal_name(int number, char *text);
/* "SEGV_MAPERR", or NULL. */
const char *pmp_signal_code_name(int number, int code);
/* Append "SIGSEGV (11), SEGV_MAPERR (1), address 0x10, in LWP 4102", or that there was no
 * signal. */
void pmp_crash_text(struct pmp_buf *buf, const struct pmp_crash *crash);

#endif
