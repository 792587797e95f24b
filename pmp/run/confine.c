/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See confine.h. The front executes programs only by confine/program.h, which takes all
 * rights from them. So no exec has to grant any: the bounding set is empty, and
 * no_new_privs is set.
 */
#include "run/confine.h"

#include <linux/capability.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "confine/rights.h"
#include "options/options.h"
#include "sampler/confine.h"

#define BIT(capability) (UINT64_C(1) << (capability))

/* Capabilities that a source needs if it samples. */
static uint64_t for_sampling(const struct options *options, size_t targets)
{
	/* To see where in the kernel a sampler hangs, and which program a command runs. */
	uint64_t kept = BIT(CAP_SYS_PTRACE);

	/* If a target makes the sampler crash, another one is started for the other
	 * targets; the key O starts one to read a heap. */
	if (targets > 1 || options->children || options->wants_screen)
		kept |= confine_sampler_kept(options->kernel);
	/* To forward signals to the command, which may have changed its user. */
	if (options->command)
		kept |= BIT(CAP_KILL);
	return kept;
}

/* Whether one of these paths, separated by colons, leads through /proc, as /proc/PID/root of a
 * container does: the kernel follows that only for those who may trace the process. */
static bool leads_through_proc(const char *paths)
{
	return paths && (strncmp(paths, "/proc/", strlen("/proc/")) == 0 ||
			 strstr(paths, ":/proc/") != NULL);
}

/* Capabilities that a source needs if it reads files. */
static uint64_t for_files(const struct options *options)
{
	if (leads_through_proc(options->symfs) ||
	    leads_through_proc(options->debug_dir) || leads_through_proc(options->exe))
		return BIT(CAP_SYS_PTRACE);
	return 0;
}

bool confine_front(const struct options *options, size_t targets)
{
	/* To read symbol files and to write output, also in directories of other users. */
	uint64_t kept =
		BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);

	if (PMP_FAULT("front-rights"))
		return false;
	kept |= options->file_count ? for_files(options) : for_sampling(options, targets);
	/* Processes that unpack, write large answers or fetch are started later, as another
	 * user, and may have to be killed. */
	if (options->file_count || options->serve || options->debuginfod)
		kept |= BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL);
	return confine_keep(kept, 0);
}
