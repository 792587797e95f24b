/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that read files: executables, debug files and perf maps, which a hostile
 * program may have made. They have no rights, and only the files that they are given
 * (confine.h). Their parent is forked before pmp reads anything of a target; it forks them
 * on demand, and again after their death.
 */
#ifndef PMP_NAMER_NAMER_H
#define PMP_NAMER_NAMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libpmp-program.h"

struct namer;

/** Fork the parent. Must be called while no other thread is active. NULL with
 * *err filled: it has failed. */
struct namer *namer_new(struct pmp_error *err);
/** Must be called after the symbolizers are freed. Takes NULL. */
void namer_free(struct namer *namer);
/** Give up what is being read; no more files are read. Called by another thread than the
 * one that waits for names, which gets none. Takes NULL. */
void namer_cancel(struct namer *namer);
/** The same without waiting: does nothing if it would have to wait. */
void namer_try_cancel(struct namer *namer);
/** The functions for struct pmp_symbolizer_options. NULL for NULL. */
const struct pmp_namer_calls *namer_calls(const struct namer *namer);
/** The parent's pid; 0 for NULL. */
pid_t namer_pid(const struct namer *namer);
/** The CPU time of these processes, ns; 0 for NULL. Does not wait. */
uint64_t namer_cpu(struct namer *namer);
/** The rights that could not be dropped: of enum confine_missing (confine/rights.h). */
unsigned namer_missing(const struct namer *namer);
/** Have so many of them died that no more are started? "three times in a row", or NULL.
 * May be called by any thread. */
const char *namer_given_up(const struct namer *namer);

#endif
