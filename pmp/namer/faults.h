/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planted faults of a process that reads files (base/fault.h): what a file that has taken it
 * over would do. Nothing in a real build. */
#ifndef PMP_NAMER_FAULTS_H
#define PMP_NAMER_FAULTS_H

struct pmp_namer;

/** At work on a module whose path has "victim" in it. */
void faults_play(struct pmp_namer *namer);

#endif
