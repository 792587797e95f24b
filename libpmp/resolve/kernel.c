/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel.h. There are a few hundred names at most. */
#include "resolve/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "libpmp.h"

struct pmp_kernel_name {
	uint64_t address;
	const char *name;
};

static int add(struct pmp_kernel_names *names, struct pmp_strings *strings,
	       const char *name, size_t length)
{
	uint64_t address = pmp_kernel_address(name, length);
	size_t place = pmp_search_after(names->items, names->count, sizeof(*names->items),
					address);

	if (place && names->items[place - 1].address == address)
		return 0;
	if (PMP_RESERVE(&names->items, &names->capacity, names->count + 1))
		return PMP_ENOMEM;
	memmove(names->items + place + 1, names->items + place,
		(names->count - place) * sizeof(*names->items));
	names->items[place] =
		(struct pmp_kernel_name){ address, pmp_strings_keep(strings, name) };
	names->count++;
	return 0;
}

int pmp_kernel_names_add(struct pmp_kernel_names *names, struct pmp_strings *strings,
			 const struct pmp_module *module)
{
	const char *image = module->image;
	size_t length;

	for (size_t at = 0; at < module->image_size; at += length + 1) {
		length = strnlen(image + at, module->image_size - at);
		/* The image came from another process: its last name may lack a NUL. */
		if (at + length == module->image_size)
			break;
		if (length && add(names, strings, image + at, length))
			return PMP_ENOMEM;
	}
	return 0;
}

const char *pmp_kernel_names_find(const struct pmp_kernel_names *names, uint64_t address)
{
	size_t after = pmp_search_after(names->items, names->count, sizeof(*names->items),
					address);

	return after && names->items[after - 1].address == address
		       ? names->items[after - 1].name
		       : NULL;
}

void pmp_kernel_names_free(struct pmp_kernel_names *names)
{
	free(names->items);
	*names = (struct pmp_kernel_names){ 0 };
}
