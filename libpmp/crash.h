/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the process of a core file died. */
#ifndef PMP_CRASH_H
#define PMP_CRASH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_buf;

struct pmp_crash {
	bool is;      /* the sample is from a core file */
	int signal;   /* 0: none; a debugger wrote the core of a live process */
	int code;     /* si_code */
	pid_t tid;    /* the thread that received it; 0: none */
	pid_t sender; /* the process that sent it; 0: none, or unknown */
	bool has_address;
	uint64_t address; /* of the fault, or of the instruction */
	char args[96];	  /* of the process, raw bytes, truncated by the kernel; "":
			   * unknown */
};

/* Returns "SIGSEGV", "SIGRTMIN+3"; NULL: no name. text is a buffer of 16 bytes that may be
 * used. */
const char *pmp_signal_name(int number, char *text);
/* Returns "SEGV_MAPERR", or NULL. */
const char *pmp_signal_code_name(int number, int code);
/* Append "SIGSEGV (11), SEGV_MAPERR (1), address 0x10, in LWP 4102", or that there was no
 * signal. */
void pmp_crash_text(struct pmp_buf *buf, const struct pmp_crash *crash);

#endif
