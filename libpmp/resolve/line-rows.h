/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many lines a line table has, before a library makes a list of them. */
#ifndef PMP_RESOLVE_LINE_ROWS_H
#define PMP_RESOLVE_LINE_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Of the table at that offset of a section .debug_line, little-endian; as far as it can be
 * read. A row is a byte of the table at least, and some 100 of memory in libdw. */
uint64_t pmp_line_rows(const unsigned char *data, size_t size, uint64_t offset);

#endif
