/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When libdw finds no memory it calls a handler that must not return; its own one
 * prints and exits. Ours gives up what was asked of libdw and returns to where
 * that began.
 */
#ifndef PMP_RESOLVE_LIBDW_OOM_H
#define PMP_RESOLVE_LIBDW_OOM_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* From now on dwarf is used only by work that pmp_libdw_run() does. */
void pmp_libdw_handle_oom(Dwarf *dwarf);
/*
 * Call work(arg). False: libdw ran out of memory in the middle of it. Then all that
 * it was used on must be freed, which is safe, and not asked again; what work held
 * in its own variables is lost, so it keeps nothing there that is to be freed.
 */
bool pmp_libdw_run(void (*work)(void *arg), void *arg);

#endif
