/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a blocked thread waits for and who holds it, from its system call and the bytes
 * of the lock: no symbols, no /proc, nothing but what it is given. Whether these bytes
 * were true together is not decided here: see wait.h.
 *
 * The structures are those of glibc from 2.25 on and musl 1.2 (nptl's internaltypes.h,
 * pthreadtypes-arch.h, stdio-lock.h; musl's pthread_impl.h) and InnoDB's (sux_lock.h,
 * srw_lock.h of MariaDB from 10.6 on).
 */
#ifndef PMP_CAPTURE_WAIT_DECODE_H
#define PMP_CAPTURE_WAIT_DECODE_H

#include "base/reader.h"
#include "sample.h"

#define PMP_WAIT_STACK 96 /* words of the stack, from sp on, that a decoder may need */

/* Where a machine's libraries keep what pthread_t points to: offsets in bytes. */
struct pmp_thread_layout {
	bool self_pointers; /* glibc: the block begins with its own address, has it again
			     * at self; else it has a list whose neighbour points back */
	uint16_t self, list, tid; /* of glibc */
	uint16_t musl_join;	  /* from the start of musl's block to its join futex */
};

extern const struct pmp_thread_layout pmp_thread_layout_x86_64;
extern const struct pmp_thread_layout pmp_thread_layout_aarch64;

/* The system call that a thread is blocked in, numbered as on this machine. */
struct pmp_wait_call {
	pid_t tid; /* as the process itself numbers it: as its locks do */
	int number;
	const uint64_t *args; /* six */
	const char *wchan;    /* "": not known; only restart_syscall needs it */
	uint8_t known; /* what the same wait was found to be before; PMP_WAIT_NONE: not known */
	const uint64_t *stack; /* words from sp on */
	size_t stack_count;    /* up to PMP_WAIT_STACK of them */
};

/* Whose locks the process has. */
enum pmp_libc {
	PMP_LIBC_ANY, /* not known: a static program, for instance */
	PMP_LIBC_GLIBC,
	PMP_LIBC_MUSL,
};

struct pmp_wait_memory {
	struct pmp_reader reader;
	enum pmp_libc libc;
	const struct pmp_thread_layout *layout;
	bool (*is_thread)(void *arg, pid_t tid); /* of the process, in its own numbers */
	void *arg;
};

/* Does it wait by a futex, so that pmp_wait_decode() may say more? */
bool pmp_wait_is_futex(const struct pmp_wait_call *call);
/*
 * Fills *wait, but for PMP_WAIT_PROVEN; wait->holder is in the numbers of the process.
 * A futex that no decoder knows is a PMP_WAIT_FUTEX, any other call PMP_WAIT_NONE.
 */
void pmp_wait_decode(const struct pmp_wait_call *call,
		     const struct pmp_wait_memory *memory, struct pmp_wait *wait);

#endif
