/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between a process that reads a core file and the one that wants its sample; see
 * resolve/remote-messages.h. After CORE_READ, if its error has no code, the sample
 * follows, as on every socket (wire/).
 */
#ifndef PMP_CORE_CORE_RECORDS_H
#define PMP_CORE_CORE_RECORDS_H

#include <stdint.h>

#include "core/modules.h"
#include "crash.h"
#include "libpmp.h"

#define PMP_CORE_PATH_MAX 65536u
#define PMP_CORE_MISSING_MAX 65536u

/* With PMP_REMOTE_CORE and the descriptor. */
struct pmp_core_request {
	uint64_t written;
	uint32_t unwind, max_frames, no_waits, debugs;
	int32_t exe_errno;
	uint32_t has_exe;
	/* followed by exe and the core's name */
};

/* With PMP_REMOTE_CORE_ASK: asks for a file of a module, see pmp_core_places_open(). The
 * answer is PMP_REMOTE_GIVE, whose flag is an errno if there is no descriptor. */
struct pmp_core_ask {
	uint32_t place, deleted, program, unused;
	char build_id[PMP_CORE_ID_TEXT];
	/* path */
};

/* With PMP_REMOTE_CORE_READ. */
struct pmp_core_read {
	struct pmp_error error;
	struct pmp_crash crash;
	uint64_t length, meant, threads, threads_left_out;
	int32_t pid;
	uint32_t no_files, missing_count;
	char name[PMP_NAME_SIZE];
	/* followed by missing_count struct pmp_core_missed, each with path and problem */
};

struct pmp_core_missed {
	char build_id[PMP_CORE_ID_TEXT];
	uint8_t program;
	/* path, problem */
};

#endif
