/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under libFuzzer: writes the seeds that a target makes into the directory in FUZZ_SEEDS,
 * which is part of the initial corpus. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#define SEED_MAX (1 << 20)

static void write_seed(const char *folder, unsigned n, const uint8_t *data, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed-%u", folder, n);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static uint8_t data[SEED_MAX];
	const char *folder = getenv("FUZZ_SEEDS");
	size_t size;

	(void)argc;
	(void)argv;
	if (!folder || !fuzz_seed)
		return 0;
	for (unsigned n = 0; (size = fuzz_seed(n, data, sizeof(data))); n++)
		write_seed(folder, n, data, size);
	return 0;
}
