/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that asks debuginfod servers. elfutils' library does it, which brings along
 * libcurl, cryptography and threads: none of that is loaded into the front, let alone
 * linked, it may crash there, and whatever hangs in it can be left alone.
 */
#ifndef PMP_PMP_DEBUGINFOD_H
#define PMP_PMP_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PMP_DEBUGINFOD_ID_SIZE 132 /* of a build-id in hex, with its NUL */
#define PMP_DEBUGINFOD_TEXT_SIZE 256

/* What it is asked for; one message. */
struct pmp_debuginfod_request {
	bool executable; /* else the debug file */
	char build_id[PMP_DEBUGINFOD_ID_SIZE];
};

enum pmp_debuginfod_answer {
	PMP_DEBUGINFOD_PROGRESS, /* done and total bytes; total 0: not known */
	PMP_DEBUGINFOD_AGAIN,	 /* another server is asked: its time begins */
	PMP_DEBUGINFOD_FOUND,	 /* the message carries a descriptor */
	PMP_DEBUGINFOD_MISSING,	 /* no server has it */
	PMP_DEBUGINFOD_FAILED, /* for a reason that other files will have, too: number */
	PMP_DEBUGINFOD_NO_LIBRARY, /* the reason is in text */
};

/* What it answers: any number of PROGRESS and AGAIN, and one of the others. */
struct pmp_debuginfod_reply {
	enum pmp_debuginfod_answer answer;
	int number; /* an errno; of FOUND and MISSING that of the server in text, or 0 */
	uint64_t done, total;
	char text[PMP_DEBUGINFOD_TEXT_SIZE];
};

/* Can it be had at all? Not in a static executable, where nothing can be loaded. */
bool pmp_debuginfod_built(void);
/**
 * In a child of its own: answer what comes through the socket fd, until it is closed or
 * its parent has ended. Does not return.
 */
void pmp_debuginfod_serve(int fd, pid_t parent) __attribute__((noreturn));

#endif
