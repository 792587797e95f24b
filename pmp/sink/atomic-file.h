/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The destination of output: standard output, a device, or a file that appears under
 * its name only when it is complete.
 */
#ifndef PMP_SINK_ATOMIC_FILE_H
#define PMP_SINK_ATOMIC_FILE_H

#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct atomic_file;

/* What a call waits for right now; another thread may read since, atomically. */
struct atomic_file_wait {
	uint64_t since;	  /* CLOCK_MONOTONIC, ns; 0: it does not wait */
	const char *path; /* valid while since is set */
	bool stream;	  /* it is written in place, and may have a reader */
};

struct atomic_file_target {
	const char *name; /* NULL: standard output; borrowed */
	bool closed;	  /* standard output was closed when pmp was started */
	pid_t pid;	  /* for conversions, as is process */
	const char *process;
	struct atomic_file_wait *wait; /* kept up to date; or NULL */
};

/**
 * Open the destination: standard output, or a file whose name may have conversions
 * (filename.h). A name with a time or a counter never replaces a file: the next free name
 * is taken. Checks that the file can be created, but it is invisible until
 * atomic_file_commit().
 *
 * Fails with PMP_EIO (the message is complete) or PMP_ENOMEM.
 */
int atomic_file_open(struct atomic_file **output, const struct atomic_file_target *target,
		     struct pmp_error *err);

/** The write function of a struct pmp_sink; arg is the output. Buffered. */
int atomic_file_write(void *arg, const void *data, size_t length);
/** Write out the buffer. 0 or a negative errno. */
int atomic_file_flush(struct atomic_file *output);
/**
 * Everything was written: flush, and give the file its name. A later write starts another
 * version of it. Returns 0 or a negative errno.
 */
int atomic_file_commit(struct atomic_file *output);
/** The same for what was written so far; a later write appends to that. */
int atomic_file_commit_copy(struct atomic_file *output);
/**
 * After a commit: of the files that the pattern can have made for this process, remove all
 * but the newest `keep`. Returns 0 or a negative code with err filled.
 */
int atomic_file_keep(struct atomic_file *output, uint64_t keep, struct pmp_error *err);

/** The name of the output, for messages. */
const char *atomic_file_path(const struct atomic_file *output);

/** The first error as a negative errno, or 0. Nothing is written after one. */
int atomic_file_error(const struct atomic_file *output);
/** Print what went wrong and what to do, except if the reader closed the pipe. */
void atomic_file_complain(const struct atomic_file *output);

/** Free the output; what was not committed is lost. */
void atomic_file_free(struct atomic_file *output);

#endif
