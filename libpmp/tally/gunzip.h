/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompression of gzip data from an untrusted source. */
#ifndef PMP_TALLY_GUNZIP_H
#define PMP_TALLY_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Does it start with gzip's magic bytes? */
bool pmp_gunzip_is(const void *data, size_t length);
/*
 * Decompress data and append at most limit bytes to a buffer. 0, PMP_EFORMAT (damaged or
 * truncated), PMP_ELIMIT or PMP_ENOMEM.
 */
int pmp_gunzip(const void *data, size_t length, size_t limit, struct pmp_buf *buf);

#endif
