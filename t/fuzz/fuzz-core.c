/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: a core file, from its bytes to the stacks of its threads. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/corefile.h"
#include "fuzz.h"
#include "libpmp.h"
#include "sample.h"

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	struct corefile core;
	size_t length = 0;

	if (n > 2)
		return 0;
	core_make_for(&core, n == 1 ? 20 : 2, n < 2 ? EM_X86_64 : EM_AARCH64);
	if (core.length <= size) {
		length = core.length;
		memcpy(data, core.bytes, length);
	}
	free(core.bytes);
	return length;
}

static void take_sample(struct pmp_core *core)
{
	struct pmp_core_missing_file missing = { .size = sizeof(missing) };
	struct pmp_core_info info = { .size = sizeof(info) };
	struct pmp_sample *sample;

	pmp_core_info(core, &info);
	if (pmp_core_sample(core, &sample, NULL) < 0)
		return;
	if (sample->thread_count != info.threads)
		__builtin_trap();
	for (size_t i = 0; pmp_core_missing(core, i, &missing); i++)
		if (!*missing.problem)
			__builtin_trap();
	pmp_sample_free(sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* It names files: those of this machine must not be used. */
	const struct pmp_core_options options = { .size = sizeof(options),
						  .debug_dir = "/nonexistent" };
	int fd = memfd_create("core", MFD_CLOEXEC);
	struct pmp_core *core;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size &&
	    pmp_core_open(fd, "core", &options, &core, NULL) == 0) {
		take_sample(core);
		pmp_core_close(core);
	}
	close(fd);
	return 0;
}
