/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in the kernel a blocked thread waits: /proc/PID/task/TID/stack, which the kernel
 * unwinds itself. It shows names and hides addresses; pmp_kernel_address() derives an
 * address from each name, and the kernel module in a sample's maps has the names. Reading
 * it requires CAP_SYS_ADMIN (proc(5)).
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

#define PMP_KERNEL_DEPTH 64 /* frames; the kernel shows no more */

/* The kernel stack of one thread, innermost first. */
struct pmp_kernel_stack {
	struct pmp_raw_frame frames[PMP_KERNEL_DEPTH];
	size_t count;
};

/* Shared by all kernel stacks. */
struct pmp_kernel {
	struct pmp_intern *seen;	 /* all functions seen; NULL: none yet */
	struct pmp_buf names;		 /* their names, each NUL-terminated */
	struct pmp_maps *maps, *maps_of; /* the last result, and what it was made from;
					  * references */
	size_t maps_length;		 /* length of names at that time */
};

/* Parse the kernel's text. Malformed lines are skipped. 0 or PMP_ENOMEM. */
int pmp_kernel_parse(struct pmp_kernel *kernel, const char *text, size_t length,
		     struct pmp_kernel_stack *stack);
/* The same for a thread; empty if it cannot be read. */
int pmp_kernel_read(struct pmp_kernel *kernel, const struct pmp_process *process,
		    pid_t tid, struct pmp_kernel_stack *stack);
/*
 * Returns a reference to maps extended by the kernel functions seen so far, or to maps
 * itself if there are none. A new module takes *next_id. NULL: no memory.
 */
struct pmp_maps *pmp_kernel_maps(struct pmp_kernel *kernel, struct pmp_maps *maps,
				 uint32_t *next_id);
/* Leaves an empty struct. */
void pmp_kernel_free(struct pmp_kernel *kernel);

#endif
