/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size of a line table, to be checked before libdw makes a list of its rows. */
#ifndef PMP_RESOLVE_LINE_ROWS_H
#define PMP_RESOLVE_LINE_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* The number of rows of the table at an offset in a section .debug_line (little-endian), as
 * far as it can be read. A row takes at least one byte of the table, but some 100 bytes of
 * memory in libdw. */
uint64_t pmp_line_rows(const unsigned char *data, size_t size, uint64_t offset);

#endif
