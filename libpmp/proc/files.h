/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of the files that a process has mapped, opened while it is alive:
 * through /proc/PID/map_files, /proc/PID/exe, then its path below
 * /proc/PID/root (openat2, RESOLVE_IN_ROOT). Never blocks (O_NONBLOCK), never
 * leaves the root, and accepts only regular files with the same device and
 * inode as in maps. No thread is held here.
 */
#ifndef PMP_PROC_FILES_H
#define PMP_PROC_FILES_H

#include "base/log.h"
#include "proc/process.h"
#include "sample.h"

#include <stdbool.h>
#include <stdint.h>

/* Opens the file of a region into module->fd; on failure module->fd is -1 and
 * module->open_errno says why (ESTALE: the file has been replaced). */
void pmp_files_open(const struct pmp_process *process, const struct pmp_region *region,
		    struct pmp_module *module, const struct pmp_log *log);
/* Is the file with that device and inode at path, as seen by the process or by us? */
bool pmp_files_is_at(const struct pmp_process *process, const char *path, uint64_t device,
		     uint64_t inode);
/* Open the perf map of JIT code, /tmp/perf-NSPID.map in the root of the
 * process, if it is a regular file with a single link, of at most 64 MiB, that
 * belongs to the (effective) owner of the process and is not a mount point. -1:
 * none (or not acceptable; logged). */
int pmp_files_open_perf_map(const struct pmp_process *process, const struct pmp_log *log);

#endif
