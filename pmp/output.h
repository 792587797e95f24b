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
#include <sys/types.h>

struct pmp_output;

/* Called when fd cannot be written at once: wait until it may be writable. */
struct pmp_output_wait {
	void (*wait)(void *arg, int fd);
	void *arg;
};

/** Is the name well formed: only the conversions of pmp_output_open()? */
bool pmp_output_check_name(const char *name);

/**
 * Open the destination. name NULL: standard output, closed says that it was closed
 * when pmp began. Else a file name, in which %p is pid, %n process, %t the local
 * time, %c a counter (the first that is free) and %% a percent sign. That the file
 * can be made is tried here; nothing is visible before pmp_output_commit().
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

/** The first error as a negative errno, or 0. Nothing is written after one. */
int pmp_output_error(const struct pmp_output *output);
/** Print what went wrong and what to do; says nothing of a reader that left. */
void pmp_output_complain(const struct pmp_output *output);

/** What was not committed is discarded. */
void pmp_output_free(struct pmp_output *output);

#endif
