/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system call that a thread of a core file was blocked in, derived from its
 * registers. */
#ifndef PMP_CORE_CALL_H
#define PMP_CORE_CALL_H

#include "base/reader.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>

/* True: sets *number, as on this machine, and six arguments. False: *number is
 * PMP_SYSCALL_NONE (it was in none or not blocked there), or PMP_SYSCALL_UNKNOWN (its code
 * cannot be read, or the numbers are those of another machine). words: of NT_PRSTATUS. */
bool pmp_core_call(const struct pmp_arch *arch, const uint64_t *words,
		   const struct pmp_reader *memory, int *number, uint64_t *args);
/* The thread pointer; 0: not among the registers. */
uint64_t pmp_core_tls(const struct pmp_arch *arch, const uint64_t *words);

#endif
