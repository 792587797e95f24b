/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that a recorder and pmp share, on pmp's side: created, found again, mapped. It
 * is sealed: no process can change its size.
 */
#ifndef PMP_HEAP_SHARED_H
#define PMP_HEAP_SHARED_H

#include "heap/protocol.h"
#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>

struct pmp_heap_shared {
	struct pmp_heap_header *header;	    /* NULL: not mapped */
	struct pmp_heap_process *processes; /* PMP_HEAP_PROCESSES */
	struct pmp_heap_slot *slots;	    /* PMP_HEAP_SLOTS */
	unsigned char *ring;		    /* mapped twice in a row */
};

struct pmp_heap_settings {
	uint64_t rate;
	uint32_t max_stack;
	uint32_t flags; /* PMP_HEAP_FLAG_ */
};

/* Create memory. *fd, owned by the caller, can be passed to a process. 0 or an error. */
int pmp_heap_shared_new(const struct pmp_heap_settings *settings,
			struct pmp_heap_shared *shared, int *fd, struct pmp_error *err);
/* Map memory that another pmp has created. PMP_EFORMAT: it is something else. */
int pmp_heap_shared_open(int fd, struct pmp_heap_shared *shared, struct pmp_error *err);
void pmp_heap_shared_close(struct pmp_heap_shared *shared);
/* Find such memory in a process that has it open or mapped. Returns a descriptor, owned by
 * the caller; -1: there is none, or access is not permitted (errno is EACCES). */
int pmp_heap_shared_find(pid_t pid);
/* Does the process have such memory mapped? True also if that cannot be found out. */
bool pmp_heap_shared_is_mapped(pid_t pid);

/* The recorder itself, in an unnamed file: *fd, owned by the caller. 0 or an error. */
int pmp_heap_library(int *fd, struct pmp_error *err);

#endif
