/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules whose files are read by another process, which the program starts (struct
 * pmp_namer_calls): this end of the connection. What comes from there is trusted no more
 * than the files. If that process dies or does not answer, the module that it was working
 * on gets no more names, and a new process is started for the others.
 */
#ifndef PMP_RESOLVE_REMOTE_H
#define PMP_RESOLVE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpmp-program.h"
#include "resolve/debug-paths.h"
#include "resolve/remote-messages.h"
#include "sample.h"

/* The process of a symbolizer. */
struct pmp_remote {
	const struct pmp_namer_calls
		*calls;	  /* NULL: no other process, files are read here */
	int socket;	  /* -1: not started, or dead */
	uint32_t serial;  /* counts the processes */
	uint32_t handles; /* given so far */
	bool off;	  /* no process will be started any more */
	bool cancelled;	  /* because the program is ending */
	bool opened;	  /* a module has been, since a process last failed */
	uint64_t until;	  /* deadline for the current answer, ns of pmp_clock() */
	struct {
		size_t lines, files, fetched;
	} asked; /* by the process, during one request */
	struct pmp_buf request;
	struct pmp_remote_message message;
};

/* A module in that process. All zero: not open. */
struct pmp_remote_module {
	uint32_t handle, serial;
	bool failed; /* a process failed while it read this module */
	char build_id[PMP_BUILD_ID_TEXT];
	char problem[128];
	struct pmp_debug_place place; /* where its debug files may be */
	char *debug_path;	      /* of the debug file that it was last given */
};

struct pmp_remote_options {
	uint32_t options; /* PMP_REMOTE_NO_SYMBOLS ... */
	const char *only; /* read only a file with this build-id; NULL: any */
	const char *debug_dir;
	struct pmp_fetch fetch;
	const struct pmp_log *log;
};

void pmp_remote_free(struct pmp_remote *remote);
/* In a child of fork(): stop using the process, which can serve only the parent. */
void pmp_remote_leave(struct pmp_remote *remote);
/* Is the module open, or will it never be? Else it has to be opened (again). */
bool pmp_remote_is_open(const struct pmp_remote *remote,
			const struct pmp_remote_module *module);
/* Open a module in the process. If that fails, the module has a problem. asked: see
 * pmp_dso_new(). */
void pmp_remote_open(struct pmp_remote *remote, struct pmp_remote_module *module,
		     const struct pmp_module *source,
		     const struct pmp_remote_options *options, const uint64_t *asked,
		     size_t count);
/* The places to name: offsets of code in the file, addresses of code in a perf map, or
 * distances of objects. */
struct pmp_remote_wanted {
	bool objects;
	const uint64_t *places;
	size_t count;
	/* Called for each place. */
	void (*take)(void *arg, const struct pmp_remote_place *place);
	void *arg;
};

/* Name places of an open module. False: not all were named, and the module has failed. */
bool pmp_remote_name(struct pmp_remote *remote, struct pmp_remote_module *module,
		     const struct pmp_remote_wanted *wanted);
/* Close a module that is not needed any more, without waiting. */
void pmp_remote_close(struct pmp_remote *remote, struct pmp_remote_module *module);

#endif
