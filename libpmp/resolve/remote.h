/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules whose files are read in another process, which the program starts (struct
 * pmp_namer_calls): this end of it. What comes from there is believed no more than the
 * files. If that process dies or does not answer, the module that it was at work on has no
 * names from then on; another process reads the others.
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
		*calls;	  /* NULL: there is none, files are read here */
	int socket;	  /* -1: not started, or dead */
	uint32_t serial;  /* which process it is */
	uint32_t handles; /* given so far */
	bool off;	  /* there will be none */
	bool cancelled;	  /* because the program is ending */
	uint64_t until; /* ns of pmp_clock(): when what is asked for has to be answered */
	struct {
		size_t lines, files, fetched;
	} asked; /* by the process, for one request */
	struct pmp_buf request;
	struct pmp_remote_message message;
};

/* A module there. All zero: not open. */
struct pmp_remote_module {
	uint32_t handle, serial;
	bool failed; /* it has brought down who read it */
	char build_id[PMP_BUILD_ID_TEXT];
	char problem[128];
	struct pmp_debug_place place; /* where its debug files may be */
	char *debug_path;	      /* of the debug file that was given last */
};

struct pmp_remote_options {
	uint32_t options; /* PMP_REMOTE_NO_SYMBOLS ... */
	const char *only; /* a build-id: no other file is read; NULL: any */
	const char *debug_dir;
	struct pmp_fetch fetch;
	const struct pmp_log *log;
};

void pmp_remote_free(struct pmp_remote *remote);
/* In a child of fork(): what is said to the process is said by one only. */
void pmp_remote_leave(struct pmp_remote *remote);
/* Is it open, or will it never be? Else it has to be opened (again). */
bool pmp_remote_is_open(const struct pmp_remote *remote,
			const struct pmp_remote_module *module);
/* Open it there. It may fail, and has a problem then. asked: see pmp_dso_new(). */
void pmp_remote_open(struct pmp_remote *remote, struct pmp_remote_module *module,
		     const struct pmp_module *source,
		     const struct pmp_remote_options *options, const uint64_t *asked,
		     size_t count);
/* Places that are to be named: code at offsets in the file, by its addresses in a perf map,
 * or objects at their distances. */
struct pmp_remote_wanted {
	bool objects;
	const uint64_t *places;
	size_t count;
	/* Gets one of them after the other. */
	void (*take)(void *arg, const struct pmp_remote_place *place);
	void *arg;
};

/* Name places of an open module. False: not all have come, and the module has failed. */
bool pmp_remote_name(struct pmp_remote *remote, struct pmp_remote_module *module,
		     const struct pmp_remote_wanted *wanted);
/* It is not needed any more. */
void pmp_remote_close(struct pmp_remote *remote, struct pmp_remote_module *module);

#endif
