/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/maps to struct pmp_maps:
 *
 *   7f31c3a00000-7f31c3b55000 r-xp 00026000 fe:00 1234   /usr/lib/libc.so.6
 *   start        end          prot offset   dev   inode  path
 *
 * Only newlines are escaped in path (\012); " (deleted)" after it is ambiguous
 * and not relied on: device and inode decide.
 */
#ifndef PMP_PROC_MAPS_H
#define PMP_PROC_MAPS_H

#include "base/log.h"
#include "proc/process.h"
#include "sample.h"

/* One parsed line. path is borrowed from the text and still escaped. */
struct pmp_maps_line {
	uint64_t start, end, offset, device, inode;
	unsigned prot;
	const char *path;
	size_t path_length;
};
bool pmp_maps_parse_line(const char *line, size_t length, struct pmp_maps_line *out);
/* The length of a path in /proc without one final " (deleted)", which the kernel appends
 * to the path of a file that no longer exists. */
size_t pmp_maps_path_length(const char *path, size_t length);

/*
 * Read the maps of a process. Modules that old (may be NULL) already has are reused with
 * their descriptors and ids; new ones get ids from *next_id. Those with an executable
 * region are opened (files.c), at most 512, and only while half of the descriptors are
 * free; else *maps is lazy. Reads the vDSO's image. If nothing differs from old, *maps is
 * old with one more reference. Bounded: at most 1 Mi lines.
 */
int pmp_maps_read(const struct pmp_process *process, struct pmp_maps *old,
		  uint32_t *next_id, const struct pmp_log *log, struct pmp_maps **maps,
		  struct pmp_error *err);

/*
 * For lazy maps: open the file of a region, unless it has none, is already open, or could
 * not be opened; takes NULL. process->proc must be of a thread that has not exited
 * (pmp_process_live()).
 */
void pmp_maps_open(const struct pmp_process *process, const struct pmp_region *region,
		   const struct pmp_log *log);

/* How many of want bytes at address are in its mapping; reading /proc/PID/mem would
 * continue into the next one. maps may be NULL. */
size_t pmp_maps_room(const struct pmp_maps *maps, uint64_t address, size_t want);

#endif
