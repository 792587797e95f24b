/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See confine.h. It executes nothing but what confine/program.h takes all rights from, so no
 * program is to give any: the bounding set is empty, and no_new_privs is set.
 */
#include "run/confine.h"

#include <linux/capability.h>
#include <stdint.h>

#include "base/fault.h"
#include "confine/rights.h"
#include "options/options.h"
#include "sampler/confine.h"

#define BIT(capability) (UINT64_C(1) << (capability))

/* Of a source that samples. */
static uint64_t for_sampling(const struct options *options, size_t targets)
{
	/* In what of the kernel a sampler hangs, and which program a command has become. */
	uint64_t kept = BIT(CAP_SYS_PTRACE);

	/* One that dies of a target is followed by another, for the other targets; key O has
	 * another one read a heap. */
	if (targets > 1 || options->children || options->wants_screen)
		kept |= confine_sampler_kept(options->kernel);
	/* Signals are passed on, and it may have become another user. */
	if (options->command)
		kept |= BIT(CAP_KILL);
	return kept;
}

bool confine_front(const struct options *options, size_t targets)
{
	/* Files that have names, and those that are written, in directories of others too. */
	uint64_t kept =
		BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);

	if (PMP_FAULT("front-rights"))
		return false;
	if (!options->file_count)
		kept |= for_sampling(options, targets);
	/* What unpacks, writes large answers or fetches is started later, as another user,
	 * and may have to be killed. */
	if (options->file_count || options->serve || options->debuginfod)
		kept |= BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL);
	return confine_keep(kept, 0);
}
