/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread waits for as it is now: memory and thread ids of a target for
 * wait-decode.h. */
#ifndef PMP_CAPTURE_WAIT_READ_H
#define PMP_CAPTURE_WAIT_READ_H

#include "capture/futex-view.h"
#include "capture/target.h"

/* Memory as it is now, of a lock once for all who wait for it: a new one, with its target,
 * for each lock and moment. */
struct pmp_lock_reader {
	struct pmp_target *target;
	bool kept;
	uint64_t address;
	unsigned char bytes[PMP_FUTEX_BYTES];
};

/*
 * Decode what a thread waits for, by these arguments of its call (six) and words of its
 * stack (count 0: not known, then no condition is recognized). Its holder is numbered as
 * here, but for PMP_HOLDER_UNCHECKED.
 */
void pmp_wait_read(struct pmp_lock_reader *reader, const struct pmp_thread *thread,
		   const uint64_t *args, const uint64_t *stack, size_t count,
		   struct pmp_wait *wait);
/* Where a thread sleeps in restart_syscall, which says nothing itself of what it restarts;
 * "" in any other call. In text, of PMP_WCHAN_SIZE bytes, or in the thread. */
const char *pmp_wchan_of_restart(const struct pmp_target *target,
				 const struct pmp_thread *thread, char *text,
				 size_t size);
/* Do its own numbers of threads differ from ours? */
bool pmp_target_is_namespaced(const struct pmp_target *target);

#endif
