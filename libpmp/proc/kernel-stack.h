/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in the kernel a thread that is blocked waits: /proc/PID/task/TID/stack, which
 * the kernel unwinds itself. It gives names and hides addresses; pmp_kernel_address()
 * makes one of each name, and the module of the kernel that a sample's maps get has
 * the names. Only a process with CAP_SYS_ADMIN may read it (proc(5)).
 */
#ifndef PMP_PROC_KERNEL_STACK_H
#define PMP_PROC_KERNEL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/intern.h"
#include "proc/process.h"
#include "sample.h"

#define PMP_KERNEL_DEPTH 64 /* frames; the kernel gives no more */

/* Of one thread, innermost first. */
struct pmp_kernel_stack {
	struct pmp_raw_frame frames[PMP_KERNEL_DEPTH];
	size_t count;
};

/* What all of them have in common. */
struct pmp_kernel {
	struct pmp_intern *seen;	 /* all functions seen; NULL: none yet */
	struct pmp_buf names;		 /* theirs, with a NUL after each */
	struct pmp_maps *maps, *maps_of; /* the last made, of which; references */
	size_t maps_length;		 /* of names then */
};

/*
 * Read the functions of a text as the kernel gives it. Lines that cannot be understood
 * are left out. 0 or PMP_ENOMEM.
 */
int pmp_kernel_parse(struct pmp_kernel *kernel, const char *text, size_t length,
		     struct pmp_kernel_stack *stack);
/* The same of a thread; of one that cannot be read none. */
int pmp_kernel_read(struct pmp_kernel *kernel, const struct pmp_process *process,
		    pid_t tid, struct pmp_kernel_stack *stack);
/*
 * These maps and the functions of the kernel seen so far: a reference, of maps itself
 * if there are none. A new module takes *next_id. NULL: no memory.
 */
struct pmp_maps *pmp_kernel_maps(struct pmp_kernel *kernel, struct pmp_maps *maps,
				 uint32_t *next_id);
/* Leaves an empty one. */
void pmp_kernel_free(struct pmp_kernel *kernel);

#endif
