/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the kernel's functions, by the addresses that are made from them. */
#ifndef PMP_RESOLVE_KERNEL_H
#define PMP_RESOLVE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "resolve/strings.h"
#include "sample.h"

struct pmp_kernel_name;

struct pmp_kernel_names {
	struct pmp_kernel_name *items; /* ascending addresses */
	size_t count, capacity;
};

/* Add the names of a PMP_MODULE_KERNEL that are new. 0 or PMP_ENOMEM. */
int pmp_kernel_names_add(struct pmp_kernel_names *names, struct pmp_strings *strings,
			 const struct pmp_module *module);
/* The name at an address, kept by strings; NULL: unknown. */
const char *pmp_kernel_names_find(const struct pmp_kernel_names *names, uint64_t address);
/* Leaves an empty one. */
void pmp_kernel_names_free(struct pmp_kernel_names *names);

#endif
