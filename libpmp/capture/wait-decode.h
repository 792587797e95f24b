/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a blocked thread waits for and who holds it, derived only from its system call and
 * the bytes of the lock: no symbols, no /proc. Whether these bytes are consistent is not
 * decided here: see wait.h.
 *
 * The structures are those of glibc from 2.25 on and musl 1.2 (nptl's internaltypes.h,
 * pthreadtypes-arch.h, stdio-lock.h; musl's pthread_impl.h) and InnoDB's (sux_lock.h,
 * srw_lock.h of MariaDB from 10.6 on).
 */
#ifndef PMP_CAPTURE_WAIT_DECODE_H
#define PMP_CAPTURE_WAIT_DECODE_H

#include "capture/futex-view.h"
#include "sample.h"

/* Does it wait on a futex, so that pmp_wait_decode() can tell more? */
bool pmp_wait_is_futex(const struct pmp_wait_call *call);
/*
 * Fills *wait, except PMP_WAIT_PROVEN; wait->holder is numbered in the process's own
 * namespace. A futex that no decoder knows is a PMP_WAIT_FUTEX, any other call
 * PMP_WAIT_NONE.
 */
void pmp_wait_decode(const struct pmp_wait_call *call,
		     const struct pmp_wait_memory *memory, struct pmp_wait *wait);

#endif
