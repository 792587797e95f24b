/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planted faults of a process that reads files (base/fault.h): what it would do if a file
 * had taken control of it. Empty in a normal build. */
#ifndef PMP_NAMER_FAULTS_H
#define PMP_NAMER_FAULTS_H

struct pmp_namer;

/** Called for names of a module; faults apply if its path has
 * "victim": namer-crash and so on. */
void faults_play_names(struct pmp_namer *namer);
/** Called for a saved profile or a core: reader-crash and so on. */
void faults_play_file(void);

#endif
