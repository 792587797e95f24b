/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the format goes: standard output, a device, or a file that appears under
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

/* What a call waits for at this moment: for another thread to see, atomically. */
struct atomic_file_wait {
	uint64_t since;	  /* CLOCK_MONOTONIC, ns; 0: it waits for nothing */
	const char *path; /* valid while since is set */
	bool stream;	  /* it has a reader */
};

struct atomic_file_target {
	const char *name; /* NULL: standard output; borrowed */
	bool closed;	  /* that was closed when pmp was started */
	pid_t pid;	  /* what its conversions stand for */
	const char *process;
	struct atomic_file_wait *wait; /* NULL, or what is kept up to date */
};

/**
 * Open the destination: standard output, or a file whose name may have conversions
 * (filename.h). One with a time or a counter never replaces a file: the next that is free is taken. That
 * the file can be made is tried here; nothing is visible before atomic_file_commit().
 *
 * Fails with PMP_EIO (the message is complete) or PMP_ENOMEM.
 */
int atomic_file_open(struct atomic_file **output, const struct atomic_file_target *target,
		     struct pmp_error *err);

/** The write function of a struct pmp_sink; arg is the output. It buffers. */
int atomic_file_write(void *arg, const void *data, size_t length);
/** Pass on what is buffered. 0 or a negative errno. */
int atomic_file_flush(struct atomic_file *output);
/**
 * All is written: flush, and give the file its name. A later write begins it again.
 * Returns 0 or a negative errno.
 */
int atomic_file_commit(struct atomic_file *output);
/** The same for what is there so far; a later write goes on after it. */
int atomic_file_commit_copy(struct atomic_file *output);
/**
 * After a commit: of the files that the name can have made for this process remove all
 * but the newest. Returns 0 or a negative code.
 */
int atomic_file_keep(struct atomic_file *output, uint64_t keep, struct pmp_error *err);

/** Where it goes, for messages. */
const char *atomic_file_path(const struct atomic_file *output);

/** The first error as a negative errno, or 0. Nothing is written after one. */
int atomic_file_error(const struct atomic_file *output);
/** Print what went wrong and what to do; says nothing of a reader that left. */
void atomic_file_complain(const struct atomic_file *output);

/** What was not committed is discarded. */
void atomic_file_free(struct atomic_file *output);

#endif
