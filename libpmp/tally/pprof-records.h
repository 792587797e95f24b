/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A saved profile in transit from the process that reads it to the one that counts it: each
 * call of pprof-calls.h is a record. A record is its struct, then its arrays, then its
 * strings, each with its NUL, then zeros up to a multiple of 8 bytes. Locations and
 * mappings are numbered 0, 1, ... in the order of their records. Both processes are of the
 * same build.
 */
#ifndef PMP_TALLY_PPROF_RECORDS_H
#define PMP_TALLY_PPROF_RECORDS_H

#include "tally/pprof-calls.h"

#include <stdint.h>

#define PMP_PPROF_LOT ((size_t)128 << 10) /* bytes of records sent in one message */

enum pmp_pprof_record_type {
	PMP_PPROF_RECORD_MAPPING = 1,
	PMP_PPROF_RECORD_LOCATION,
	PMP_PPROF_RECORD_STACK,
	PMP_PPROF_RECORD_PROCESS,
	PMP_PPROF_RECORD_END,
};

struct pmp_pprof_record {
	uint32_t type, size; /* size: bytes of the whole record */
};

struct pmp_pprof_record_mapping {
	struct pmp_pprof_record record;
	uint64_t start, end, offset;
	/* path, build-id */
};

struct pmp_pprof_record_location {
	struct pmp_pprof_record record;
	uint64_t pc;
	uint32_t mapping, exact, count, unused;
	/* struct pmp_pprof_record_frame[count]; function, linkage, file of each */
};

struct pmp_pprof_record_frame {
	uint32_t line, signal;
};

struct pmp_pprof_record_stack {
	struct pmp_pprof_record record;
	uint64_t count, cpu, wall;
	uint64_t contentions, held_contentions, held_delay;
	int32_t pid, tid, holder;
	uint32_t end, location_count;
	uint8_t state, has_heap, lock_kind;
	uint8_t lock; /* 1 + enum pmp_holder_stack; 0: it has none */
	/* struct pmp_heap_sums, uint32_t locations; process, thread, syscall, wchan,
	 * reason; of its lock, if any: text, holder */
};

struct pmp_pprof_record_process {
	struct pmp_pprof_record record;
	struct pmp_process_heap process;
};

struct pmp_pprof_record_end {
	struct pmp_pprof_record record;
	struct pmp_profile_info info;
	uint64_t realtime, duration, period, guessed;
	/* command, host, type, unit */
};

/* The request. */
struct pmp_pprof_record_want {
	uint32_t heap, has_type, has_counted;
	/* sample_type; type and unit of what earlier files count */
};

#endif
