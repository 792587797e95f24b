/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unpacking what gzip has packed, from a source that is not trusted. */
#ifndef PMP_TALLY_GUNZIP_H
#define PMP_TALLY_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Does it begin as gzip's files do? */
bool pmp_gunzip_is(const void *data, size_t length);
/*
 * Append what is packed in data to a buffer, at most limit bytes. 0, PMP_EFORMAT
 * (damaged, or cut), PMP_ELIMIT or PMP_ENOMEM.
 */
int pmp_gunzip(const void *data, size_t length, size_t limit, struct pmp_buf *buf);

#endif
