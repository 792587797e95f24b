/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved profiles as the source: pmp FILE. */
#ifndef PMP_PMP_SAVED_H
#define PMP_PMP_SAVED_H

#include "front.h"

#include <stddef.h>

/**
 * Read all files into the profile, one added to the other. "-" is standard input.
 * 0, or the status to end with: the message is printed.
 */
int pmp_saved_read(struct pmp_app *app);
/** Read one file into a profile; the same. hint, or NULL: when it cannot be opened. */
int pmp_saved_read_one(struct pmp_profile *profile, const char *path, const char *hint);
/** What %n stands for in the name of the output: the first file without its
 * folder and extension. */
void pmp_saved_name(const struct pmp_app *app, char *name, size_t size);

#endif
