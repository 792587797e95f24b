/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of threads in a pool differ in a number, so numbers are folded. */
#include "tally/group.h"

#include <stdbool.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

char *pmp_group_fold(const char *name, char *buffer, size_t size)
{
	size_t length = 0;

	for (const char *at = name; *at && length + 1 < size; at++) {
		if (!is_digit(*at))
			buffer[length++] = *at;
		else if (at == name || !is_digit(at[-1]))
			buffer[length++] = 'N';
	}
	buffer[length] = '\0';
	return buffer;
}
