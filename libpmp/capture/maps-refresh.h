/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space of a target during captures: read again when an address is
 * not in it, when the process has exec'ed, and every now and then, as a library may
 * have taken the place of another. Never while a thread is held.
 */
#ifndef PMP_CAPTURE_MAPS_REFRESH_H
#define PMP_CAPTURE_MAPS_REFRESH_H

#include "capture/target.h"

/* Read the maps now; target->maps is new if anything differs. 0 or an error. */
int pmp_maps_refresh_now(struct pmp_capture *capture, struct pmp_error *err);
/* At the start of a capture: follows an exec, which it notes in the sample; there are
 * maps afterwards. 0 or an error. */
int pmp_maps_refresh_begin(struct pmp_capture *capture, struct pmp_error *err);
/* Before a stack is read: maps that are as old as they may be. Those of threads that
 * have not run need none. 0 or an error. */
int pmp_maps_refresh_update(struct pmp_capture *capture, struct pmp_error *err);
/* Read them once more if they have changed lately. Is there other code than when the first
 * stack was read? */
bool pmp_maps_refresh_settle(struct pmp_capture *capture);
/* Is the code at pc what it was by all maps that stacks were read by? What has come to an
 * empty place is. */
bool pmp_maps_refresh_is_same(const struct pmp_capture *capture, uint64_t pc);
/* Drop the maps that are kept for these questions. */
void pmp_maps_refresh_forget(struct pmp_capture *capture);
/* After the last thread: stacks in code that was replaced since the first one was read
 * cannot be known, and are cut there. */
void pmp_maps_refresh_check(struct pmp_capture *capture);
/* Open the files that stacks and locks lie in, of a process that has mapped too many for all. */
void pmp_maps_refresh_open(const struct pmp_capture *capture);

#endif
