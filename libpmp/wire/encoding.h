/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples on a stream socket, from the process that captures to the one that names and
 * counts. Both are of the same build on the same machine, so structs are sent as they are;
 * the header reveals another version, or other sizes. The sender may have crashed in the
 * middle of a message, or be compromised, so every length, index, enumeration and string
 * is checked.
 *
 *	MODULE	once per module of a target, with its descriptor (SCM_RIGHTS)
 *	MAPS	once per address space: regions, and ids of modules sent before
 *	SAMPLE	threads and frames; refers to the last MAPS of its target. Threads that
 *		have not run since its last SAMPLE are given by their index there
 *	NOTE	bytes of the caller's own
 *	HEAP	a batch of a recorder's events; refers to the last MAPS of its target
 *	FORGET	forget what was sent about a target
 *
 * Each message is a header, its parts, and zeros up to a multiple of 8 bytes.
 */
#ifndef PMP_WIRE_ENCODING_H
#define PMP_WIRE_ENCODING_H

#include "heap-batch.h"
#include "sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PMP_WIRE_VERSION 6u /* of the messages; sizes of structs are in the magic */

#define PMP_WIRE_MESSAGE_MAX (UINT32_C(1) << 30) /* a million threads of 40 frames */
#define PMP_WIRE_NOTE_MAX ((size_t)64 * 1024)
#define PMP_WIRE_PATH_MAX ((size_t)64 * 1024)
#define PMP_WIRE_IMAGE_MAX ((size_t)1 << 20) /* a vDSO has two pages */
#define PMP_WIRE_PEERS_MAX 1024		     /* targets that are remembered */
#define PMP_WIRE_NO_MODULE UINT32_MAX

enum {
	PMP_WIRE_MODULE = 1,
	PMP_WIRE_MAPS,
	PMP_WIRE_SAMPLE,
	PMP_WIRE_NOTE,
	PMP_WIRE_FORGET,
	PMP_WIRE_HEAP
};

struct pmp_wire_header {
	uint32_t magic, type;
	uint32_t length;  /* of what follows, without the final zeros */
	uint32_t subject; /* pid; the kind of a note */
};

struct pmp_wire_module {
	uint64_t device, inode, image_size;
	uint32_t id, kind, path_length, open_errno, deleted, has_fd;
	/* path, image */
};

struct pmp_wire_maps {
	uint64_t generation, exec_generation;
	uint32_t region_count, module_count, perf_map, unused;
	/* regions, module ids */
};

struct pmp_wire_region {
	uint64_t start, end, offset;
	uint32_t module, prot;
};

struct pmp_wire_sample {
	char name[PMP_NAME_SIZE];
	uint64_t time, realtime, duration, any_stopped, seen, skipped, vanished;
	uint64_t generation;
	uint64_t hidden;
	uint64_t
		standstill; /* its number; if that of the last sample is the same, no thread
			      * follows */
	uint32_t has_maps, execed, thread_count, frame_count, kept_count;
	uint32_t outside_count, other_count, walk_cut;
	uint32_t has_census, census_count;
	uint32_t owner;
	/* struct pmp_thread, struct pmp_raw_frame; uint32_t: indices in the last
	 * sample; struct pmp_outside, struct pmp_other; of a census: its totals,
	 * struct pmp_census_row */
};

struct pmp_wire_heap {
	char name[PMP_NAME_SIZE];
	uint64_t time, generation;
	struct pmp_heap_totals totals;
	uint32_t has_maps, thread_count, event_count, frame_count;
	/* struct pmp_heap_thread, struct pmp_heap_event, struct pmp_raw_frame */
};

/* Room for one descriptor (SCM_RIGHTS). */
union pmp_wire_control {
	char data[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* The first word of each message: "pm", the version, and a checksum of sizes. */
#define PMP_WIRE_SIZES \
	((sizeof(struct pmp_thread) * 5 + sizeof(struct pmp_raw_frame) * 3 + \
	  sizeof(struct pmp_wire_sample) * 7 + sizeof(struct pmp_wire_module) * 11 + \
	  sizeof(struct pmp_wire_maps) * 13 + sizeof(struct pmp_wire_region) * 17 + \
	  sizeof(struct pmp_outside) * 19 + sizeof(struct pmp_other) * 23 + \
	  sizeof(struct pmp_wire_heap) * 29 + sizeof(struct pmp_heap_event) * 31 + \
	  sizeof(struct pmp_census_totals) * 37 + sizeof(struct pmp_census_row) * 41) & \
	 0xfff)
#define PMP_WIRE_NAME ('p' | 'm' << 8)
#define PMP_WIRE_MAGIC \
	((uint32_t)(PMP_WIRE_NAME | PMP_WIRE_VERSION << 16 | PMP_WIRE_SIZES << 20))

static inline bool pmp_wire_is_other_version(uint32_t magic)
{
	return (magic & 0xffff) == PMP_WIRE_NAME && magic != PMP_WIRE_MAGIC;
}

#endif
