/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts read calls, for tests that things are only read once. */
#ifndef PMP_T_LIB_READS_H
#define PMP_T_LIB_READS_H

#include <stdio.h>

/* The number of read calls of this process; 0: this kernel does not count them. */
static unsigned long reads(void)
{
	FILE *io = fopen("/proc/self/io", "re");
	unsigned long count = 0;
	char line[64];

	while (io && fgets(line, sizeof(line), io))
		sscanf(line, "syscr: %lu", &count);
	if (io)
		fclose(io);
	return count;
}

#endif
