/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compresses bodies with gzip (RFC 1952), for clients that accept it. */
#ifndef PMP_SERVE_COMPRESS_H
#define PMP_SERVE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Is a body of this type and length worth compressing? pprof profiles are gzip already,
 * and Go would only unpack one layer. */
bool compress_is_worth(const char *type, uint64_t length);
/** Compress bytes into memory that the caller must free; its size goes into *size. NULL: no
 * memory, or it would not be shorter. */
char *compress_bytes(const void *data, size_t length, size_t *size);
/** The same for one of the few texts that never change; compressed only once. Borrowed. */
const char *compress_constant(const char *text, size_t length, size_t *size);
/** Like compress_bytes(), for the first length bytes of a file. */
char *compress_file(int fd, size_t length, size_t *size);

#endif
