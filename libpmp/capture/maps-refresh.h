/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space of a target during captures: read again when an address is not in it,
 * when the process has exec'ed, and now and then, because a library may have replaced
 * another. Never while a thread is held.
 */
#ifndef PMP_CAPTURE_MAPS_REFRESH_H
#define PMP_CAPTURE_MAPS_REFRESH_H

#include "capture/target.h"

/* Read the maps now; replaces target->maps if anything differs. 0 or an error. */
int pmp_maps_refresh_now(struct pmp_capture *capture, struct pmp_error *err);
/* Call it at the start of a capture: handles an exec, which it notes in the sample, and
 * makes sure that there are maps. 0 or an error. */
int pmp_maps_refresh_begin(struct pmp_capture *capture, struct pmp_error *err);
/* Call it before a stack is read: rereads maps that are too old. Threads that have not run
 * need none. 0 or an error. */
int pmp_maps_refresh_update(struct pmp_capture *capture, struct pmp_error *err);
/* Read the maps once more if they changed recently. Returns whether code differs from when
 * the first stack was read. */
bool pmp_maps_refresh_settle(struct pmp_capture *capture);
/* Is the code at pc the same in all maps that stacks were read with? Code newly mapped
 * where nothing was counts as the same. */
bool pmp_maps_refresh_is_same(const struct pmp_capture *capture, uint64_t pc);
/* Drop the maps kept for these checks. */
void pmp_maps_refresh_forget(struct pmp_capture *capture);
/* Call it after the last thread: stacks through code that was replaced since the first one
 * was read are unreliable, and are cut there. */
void pmp_maps_refresh_check(struct pmp_capture *capture);
/* Open only the files of stacks and locks, for a process that has mapped too many
 * files. */
void pmp_maps_refresh_open(const struct pmp_capture *capture);

#endif
