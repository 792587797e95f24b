/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A core file that is read in an unprivileged process: this end. */
#ifndef PMP_CORE_REMOTE_H
#define PMP_CORE_REMOTE_H

#include <stdbool.h>

#include "core/modules.h"
#include "libpmp.h"
#include "sample.h"

struct pmp_core_remote;

/* Have it read by options.namer; places tells where files are. Returns 0 and sets *remote,
 * or returns an error as pmp_core_open(). */
int pmp_core_remote_read(int fd, const char *name, const struct pmp_core_options *options,
			 const struct pmp_core_places *places,
			 struct pmp_core_remote **remote, struct pmp_error *err);
void pmp_core_remote_free(struct pmp_core_remote *remote); /* takes NULL */
/* Borrowed. */
struct pmp_sample *pmp_core_remote_sample(const struct pmp_core_remote *remote);
/* As pmp_core_info() and pmp_core_missing(). */
void pmp_core_remote_info(const struct pmp_core_remote *remote,
			  struct pmp_core_info *info);
bool pmp_core_remote_missing(const struct pmp_core_remote *remote, size_t i,
			     struct pmp_core_missing_file *missing);

#endif
