/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planted faults: the tests' proof that they can fail. Empty in a real build. */
#include "base/fault.h"

#ifdef PMP_FAULTS

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void pmp_fault_stop(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vdprintf(STDERR_FILENO, format, args);
	va_end(args);
	__builtin_trap();
}

#endif
