/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bodies as gzip (RFC 1952), for clients that take it. */
#ifndef PMP_SERVE_COMPRESS_H
#define PMP_SERVE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Is a body of this type and length worth it? Profiles of pprof are gzip already, and Go
 * would unpack one layer only. */
bool compress_is_worth(const char *type, uint64_t length);
/** Compress bytes into memory, to be freed; its size goes into *size. NULL: no memory, or it
 * would not be shorter. */
char *compress_bytes(const void *data, size_t length, size_t *size);
/** The same of one of the few texts that never change, once: borrowed. */
const char *compress_constant(const char *text, size_t length, size_t *size);
/** The same as the first of the beginning of a file. */
char *compress_file(int fd, size_t length, size_t *size);

#endif
