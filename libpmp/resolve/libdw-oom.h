/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When libdw runs out of memory it calls a handler, which must not return; the
 * default one prints and exits. Ours abandons the work and jumps back to where it
 * began.
 */
#ifndef PMP_RESOLVE_LIBDW_OOM_H
#define PMP_RESOLVE_LIBDW_OOM_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* From now on dwarf may only be used within pmp_libdw_run(). */
void pmp_libdw_handle_oom(Dwarf *dwarf);
/*
 * Call work(arg). False: libdw ran out of memory in the middle of it. Then each Dwarf that
 * was in use must not be used any more, only freed, which is safe. What work holds in its
 * local variables is lost, so it must not hold anything there that has to be freed.
 */
bool pmp_libdw_run(void (*work)(void *arg), void *arg);

#endif
