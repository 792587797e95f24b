/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interning: equal byte strings get the same small number (0, 1, 2, ... in the
 * order of arrival). Used for names, stacks (as arrays of ids), locations.
 */
#ifndef PMP_BASE_INTERN_H
#define PMP_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#define PMP_INTERN_NONE UINT32_MAX

struct pmp_intern;

struct pmp_intern *pmp_intern_new(void); /* NULL: no memory */
void pmp_intern_free(struct pmp_intern *table);
/* The id of these bytes, which are copied when new; PMP_INTERN_NONE: no memory. */
uint32_t pmp_intern(struct pmp_intern *table, const void *data, size_t length);
/* The same without adding; PMP_INTERN_NONE: not found. */
uint32_t pmp_intern_find(const struct pmp_intern *table, const void *data, size_t length);
size_t pmp_intern_count(const struct pmp_intern *table);
/* The bytes of memory that it uses. */
size_t pmp_intern_size(const struct pmp_intern *table);
/* The bytes of an id, 8-byte aligned and followed by a NUL; borrowed for the
 * life of the table (they never move). length may be NULL. */
const void *pmp_intern_data(const struct pmp_intern *table, uint32_t id, size_t *length);

#endif
