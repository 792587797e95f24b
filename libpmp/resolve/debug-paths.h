/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where debug information may lie outside of a module's file, and opening what is there.
 * Whoever asks may be a process that has no files (remote.h), and need not be believed: it
 * names a build-id or what a file says, and the path is made here. Nothing of a file is
 * read here but its first bytes.
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
	PMP_DEBUG_ALT_ID, /* what several debug files share, as PMP_DEBUG_ID */
	PMP_DEBUG_ALT,	  /* the same by the path in .gnu_debugaltlink */
	PMP_DEBUG_SPLIT,  /* a .dwo file, by its path */
	PMP_DEBUG_KINDS
};

/* Which file is asked for. */
struct pmp_debug_question {
	enum pmp_debug_kind kind;
	unsigned number; /* of the candidate: 0, 1, ... */
	const unsigned char *id;
	size_t id_size;
	const char *name;   /* of what is asked for by a name or path */
	const char *beside; /* of PMP_DEBUG_ALT: the path of the file that names it */
};

struct pmp_debug_place {
	const char *debug_dir; /* /usr/lib/debug; or several, colons between */
	const char *path;      /* of the module */
	uid_t owner;	       /* of the module's file: besides root and ourselves
				* debug files of no other user are believed */
	struct pmp_fetch fetch;
	struct pmp_budget *budget;
	const struct pmp_log *log;
	/* Ask whoever has files instead; NULL: they are opened here. As
	 * pmp_debug_paths_open(). */
	int (*ask)(void *arg, const struct pmp_debug_question *question,
		   struct pmp_buf *path);
	void *ask_arg;
};

/*
 * A descriptor of a regular file, or a negative errno: -ENODATA, there is no candidate of
 * that number, nor of higher ones. *path is replaced by the candidate's.
 */
int pmp_debug_paths_open(const struct pmp_debug_place *place,
			 const struct pmp_debug_question *question, struct pmp_buf *path);
/* NULL, or why a file must not be used: it belongs to a user who is not trusted, or is no
 * ELF file. Whose file the program has fetched is for that to know. */
const char *pmp_debug_paths_refuse(const struct pmp_debug_place *place,
				   enum pmp_debug_kind kind, int fd);

#endif
