/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planted faults of a process that reads files (base/fault.h): what a file that has taken it
 * over would do. Nothing in a real build. */
#ifndef PMP_NAMER_FAULTS_H
#define PMP_NAMER_FAULTS_H

struct pmp_namer;

/** At work on a module whose path has "victim" in it: namer-crash and so on. */
void faults_play_names(struct pmp_namer *namer);
/** At work on a saved profile: reader-crash and so on. */
void faults_play_file(void);

#endif
