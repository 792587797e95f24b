/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the format goes: standard output, a device, or a file that appears under
 * its name only when it is complete.
 */
#ifndef PMP_PMP_OUTPUT_H
#define PMP_PMP_OUTPUT_H

#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_output;

/* Called when fd cannot be written at once: wait until it may be writable. */
struct pmp_output_wait {
	void (*wait)(void *arg, int fd);
	void *arg;
};

/**
 * Open the destination. name NULL: standard output, closed says that it was closed
 * when pmp began. Else a file name with conversions (filename.h); it is borrowed. One
 * with a time or a counter never replaces a file: the next that is free is taken. That
 * the file can be made is tried here; nothing is visible before pmp_output_commit().
 *
 * Fails with PMP_EIO (the message is complete) or PMP_ENOMEM.
 */
int pmp_output_open(struct pmp_output **output, const char *name, bool closed, pid_t pid,
		    const char *process, struct pmp_error *err);
void pmp_output_set_wait(struct pmp_output *output, const struct pmp_output_wait *wait);

/** The write function of a struct pmp_sink; arg is the output. It buffers. */
int pmp_output_write(void *arg, const void *data, size_t length);
/** Pass on what is buffered. 0 or a negative errno. */
int pmp_output_flush(struct pmp_output *output);
/**
 * All is written: flush, and give the file its name. A later write begins it anew.
 * Returns 0 or a negative errno.
 */
int pmp_output_commit(struct pmp_output *output);
/** The same for what is there so far; a later write goes on behind it. */
int pmp_output_commit_copy(struct pmp_output *output);
/**
 * After a commit: of the files that the name can have made for this process remove all
 * but the newest. Returns 0 or a negative code.
 */
int pmp_output_keep(struct pmp_output *output, uint64_t keep, struct pmp_error *err);

/** Where it goes, for messages. */
const char *pmp_output_path(const struct pmp_output *output);

/** The first error as a negative errno, or 0. Nothing is written after one. */
int pmp_output_error(const struct pmp_output *output);
/** Print what went wrong and what to do; says nothing of a reader that left. */
void pmp_output_complain(const struct pmp_output *output);

/** What was not committed is discarded. */
void pmp_output_free(struct pmp_output *output);

#endif
