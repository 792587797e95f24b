/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that read files: executables, debug files and perf maps, which a hostile
 * program may have made. They have no rights and no files but those that they are given
 * (confine.h). One parent of theirs is forked before pmp has read anything of a target; it
 * forks one when it is wanted, another one after its death.
 */
#ifndef PMP_NAMER_NAMER_H
#define PMP_NAMER_NAMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libpmp-program.h"

struct namer;

/** Fork the parent. To be called while no other thread does anything. NULL: it cannot be,
 * and *err says why. */
struct namer *namer_new(struct pmp_error *err);
/** After the symbolizers. Takes NULL. */
void namer_free(struct namer *namer);
/** Give up what is being read; no more files are read. For another thread than the one that
 * waits for names, which gets none. Takes NULL. */
void namer_cancel(struct namer *namer);
/** The same, but it does not wait: where that is not possible just now, nothing happens. */
void namer_try_cancel(struct namer *namer);
/** For struct pmp_symbolizer_options. NULL for NULL. */
const struct pmp_namer_calls *namer_calls(const struct namer *namer);
/** The parent's id; 0 for NULL. */
pid_t namer_pid(const struct namer *namer);
/** The CPU time that they have used, ns; 0 for NULL. Does not wait. */
uint64_t namer_cpu(struct namer *namer);
/** What could not be taken away from them: of enum confine_missing (confine/rights.h). */
unsigned namer_missing(const struct namer *namer);
/** Have so many died that there are no more? */
bool namer_has_given_up(const struct namer *namer);

#endif
