/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread waits for at this moment: gives wait-decode.h memory and thread
 * ids of a target. */
#ifndef PMP_CAPTURE_WAIT_READ_H
#define PMP_CAPTURE_WAIT_READ_H

#include "capture/futex-view.h"
#include "capture/target.h"

/* Reads memory at this moment, and each lock once for all its waiters. Use a new one,
 * initialized with its target, for each lock and moment. */
struct pmp_lock_reader {
	struct pmp_target *target;
	bool kept;
	uint64_t address;
	unsigned char bytes[PMP_FUTEX_BYTES];
};

/*
 * Decode what a thread waits for from the six arguments of its call and words of its stack
 * (count 0: unknown; then no condition is recognized). The holder is numbered as in our
 * namespace, except for PMP_HOLDER_UNCHECKED.
 */
void pmp_wait_read(struct pmp_lock_reader *reader, const struct pmp_thread *thread,
		   const uint64_t *args, const uint64_t *stack, size_t count,
		   struct pmp_wait *wait);
/* The wchan of a thread in restart_syscall, whose arguments do not tell what it restarts;
 * "" in any other call. Stored in text, of PMP_WCHAN_SIZE bytes, or borrowed from the
 * thread. */
const char *pmp_wchan_of_restart(const struct pmp_target *target,
				 const struct pmp_thread *thread, char *text,
				 size_t size);
/* Do thread ids in the target's namespace differ from ours? */
bool pmp_target_is_namespaced(const struct pmp_target *target);

#endif
