/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of wait-decode.c: the system call, the memory of a process, and the bytes
 * around the futex that a thread waits on. */
#ifndef PMP_CAPTURE_FUTEX_VIEW_H
#define PMP_CAPTURE_FUTEX_VIEW_H

#include "base/reader.h"
#include "sample.h"
#include "unwind/arch.h"

#define PMP_FUTEX_BYTES 128 /* of the lock and its surroundings: one read */
#define PMP_WAIT_STACK 96   /* words of the stack, from sp on, that a decoder may need */

/* Layout, per architecture, of what pthread_t points to: offsets in bytes. */
struct pmp_thread_layout {
	bool self_pointers; /* glibc: the block contains its own address, at its start and
			     * at self; else it has a list whose neighbour points back */
	uint16_t alignment; /* of a block of glibc: the minimum of all versions */
	uint16_t self, list, tid; /* of glibc */
	uint16_t musl_join;	  /* from the start of musl's block to its join futex */
};

extern const struct pmp_thread_layout pmp_thread_layout_x86_64;
extern const struct pmp_thread_layout pmp_thread_layout_aarch64;
const struct pmp_thread_layout *pmp_thread_layout_of(const struct pmp_arch *arch);

/* The system call that a thread is blocked in, numbered as on this machine. */
struct pmp_wait_call {
	pid_t tid; /* in the process's own namespace, as in its locks */
	int number;
	const uint64_t *args; /* six */
	const char *wchan;    /* "": unknown; only restart_syscall needs it */
	uint8_t known;	      /* kind found earlier for the same wait; or PMP_WAIT_NONE */
	const uint64_t *stack; /* words from sp on */
	size_t stack_count;    /* up to PMP_WAIT_STACK of them */
};

/* The C library whose locks the process uses. */
enum pmp_libc {
	PMP_LIBC_ANY, /* unknown, for example a static program */
	PMP_LIBC_GLIBC,
	PMP_LIBC_MUSL,
};

struct pmp_wait_memory {
	struct pmp_reader reader;
	enum pmp_libc libc;
	const struct pmp_thread_layout *layout;
	bool (*is_thread)(void *arg, pid_t tid); /* of the process, by its own ids */
	void *arg;
};

/* A futex call, and the memory around its word. */
struct pmp_futex_view {
	const struct pmp_wait_call *call;
	const struct pmp_wait_memory *memory;
	uint64_t futex;
	uint32_t value; /* expected value: the thread waits while the word has it */
	unsigned command;
	bool private;
	unsigned char bytes[PMP_FUTEX_BYTES];
	uint64_t first;	 /* address of the first of bytes */
	size_t from, to; /* range that could be read */
};

/* The address where .bytes begin. */
uint64_t pmp_futex_first(uint64_t futex);
/* Fill .bytes; all fields above must be set. If another page is not mapped, only what lies
 * in the page of the word is read. */
void pmp_futex_read_bytes(struct pmp_futex_view *view);
/* Read at this offset in bytes from the futex's word. False: not readable. */
bool pmp_futex_u32(const struct pmp_futex_view *view, int offset, uint32_t *value);
bool pmp_futex_u64(const struct pmp_futex_view *view, int offset, uint64_t *value);
/* Read at any address, which takes one more read. */
bool pmp_futex_read_u64(const struct pmp_futex_view *view, uint64_t address,
			uint64_t *value);
/* Is it a thread of the process, in its own namespace? */
bool pmp_futex_is_thread(const struct pmp_futex_view *view, uint32_t tid);
/* The thread of a pthread_t of glibc; 0: not a pthread_t. */
pid_t pmp_futex_block_thread(const struct pmp_futex_view *view, uint64_t block);

#endif
