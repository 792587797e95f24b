/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planted faults: the tests' proof that they can fail. Empty in a real build. */
#include "base/fault.h"

#ifdef PMP_FAULTS

#include <stdlib.h>
#include <string.h>

bool pmp_fault(const char *name)
{
	const char *list = getenv("PMP_FAULT");
	size_t length = strlen(name);

	while (list && *list) {
		size_t item = strcspn(list, ",");

		if (item == length && memcmp(list, name, length) == 0)
			return true;
		list += item;
		list += *list == ',';
	}
	return false;
}

#endif
