/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What wait-decode.c is given, the call and the memory of a process, and the memory around
 * the futex that a thread waits by. */
#ifndef PMP_CAPTURE_FUTEX_VIEW_H
#define PMP_CAPTURE_FUTEX_VIEW_H

#include "base/reader.h"
#include "sample.h"
#include "unwind/arch.h"

#define PMP_FUTEX_BYTES 128 /* of the lock, and what lies around it: one read */
#define PMP_WAIT_STACK 96   /* words of the stack, from sp on, that a decoder may need */

/* Where a machine's libraries keep what pthread_t points to: offsets in bytes. */
struct pmp_thread_layout {
	bool self_pointers; /* glibc: the block begins with its own address, has it again
			     * at self; else it has a list whose neighbour points back */
	uint16_t alignment; /* of a block of glibc: the least that libraries ask for */
	uint16_t self, list, tid; /* of glibc */
	uint16_t musl_join;	  /* from the start of musl's block to its join futex */
};

extern const struct pmp_thread_layout pmp_thread_layout_x86_64;
extern const struct pmp_thread_layout pmp_thread_layout_aarch64;
const struct pmp_thread_layout *pmp_thread_layout_of(const struct pmp_arch *arch);

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

/* A futex call, and the memory around its word. */
struct pmp_futex_view {
	const struct pmp_wait_call *call;
	const struct pmp_wait_memory *memory;
	uint64_t futex;
	uint32_t value; /* that the word had, and has to keep: what it waits by */
	unsigned command;
	bool private;
	unsigned char bytes[PMP_FUTEX_BYTES];
	uint64_t first;	 /* address of the first of bytes */
	size_t from, to; /* those that could be read */
};

/* Where .bytes begin. */
uint64_t pmp_futex_first(uint64_t futex);
/* Fill .bytes, once all before is set: what lies in the page of the word counts, if the rest
 * is not mapped. */
void pmp_futex_read_bytes(struct pmp_futex_view *view);
/* At so many bytes from the futex's word. False: not readable. */
bool pmp_futex_u32(const struct pmp_futex_view *view, int offset, uint32_t *value);
bool pmp_futex_u64(const struct pmp_futex_view *view, int offset, uint64_t *value);
/* At any address, which is one more read. */
bool pmp_futex_read_u64(const struct pmp_futex_view *view, uint64_t address,
			uint64_t *value);
/* Is it one of the process, by its own numbers? */
bool pmp_futex_is_thread(const struct pmp_futex_view *view, uint32_t tid);
/* The thread of a pthread_t of glibc; 0: it is none. */
pid_t pmp_futex_block_thread(const struct pmp_futex_view *view, uint64_t block);

#endif
