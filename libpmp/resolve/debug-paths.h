/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where debug information outside of a module's file may be, and opening it there. Requests
 * may come from an untrusted process without access to files (remote.h): it passes a
 * build-id or a name from a file, and paths are only made here. No more is read from a file
 * here than its first bytes.
 */
#ifndef PMP_RESOLVE_DEBUG_PATHS_H
#define PMP_RESOLVE_DEBUG_PATHS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/log.h"
#include "resolve/budget.h"
#include "resolve/fetch.h"

enum pmp_debug_kind {
	PMP_DEBUG_ID,	  /* by the module's build-id, in each of debug_dir */
	PMP_DEBUG_LINK,	  /* by the name in .gnu_debuglink, in several places */
	PMP_DEBUG_FETCH,  /* by a build-id, fetched */
	PMP_DEBUG_ALT_ID, /* what several debug files share (dwz), by its build-id */
	PMP_DEBUG_ALT,	  /* the same by the path in .gnu_debugaltlink */
	PMP_DEBUG_SPLIT,  /* a .dwo file, by its path */
	PMP_DEBUG_KINDS
};

/* The file that is wanted. */
struct pmp_debug_question {
	enum pmp_debug_kind kind;
	unsigned number; /* of the candidate: 0, 1, ... */
	const unsigned char *id;
	size_t id_size;
	const char *name;   /* name or path, for kinds that have one */
	const char *beside; /* of PMP_DEBUG_ALT: the path of the file that names it */
};

struct pmp_debug_place {
	const char *debug_dir; /* /usr/lib/debug; or several, separated by colons */
	const char *path;      /* of the module */
	uid_t owner;	       /* of the module's file; debug files are trusted if
				* they belong to this user, root or ourselves */
	struct pmp_fetch fetch;
	struct pmp_budget *budget;
	const struct pmp_log *log;
	/* NULL, or called instead of opening files in this process; like
	 * pmp_debug_paths_open(). */
	int (*ask)(void *arg, const struct pmp_debug_question *question,
		   struct pmp_buf *path);
	void *ask_arg;
};

/*
 * Open a regular file. Returns its descriptor or a negative errno; -ENODATA: there is no
 * candidate of this number or a higher one. *path is replaced by the candidate's.
 */
int pmp_debug_paths_open(const struct pmp_debug_place *place,
			 const struct pmp_debug_question *question, struct pmp_buf *path);
/* NULL, or why a file must not be used: it belongs to a user who is not trusted, or is no
 * ELF file. The owner of a fetched file is not checked: that is up to who fetched it. */
const char *pmp_debug_paths_refuse(const struct pmp_debug_place *place,
				   enum pmp_debug_kind kind, int fd);

#endif
