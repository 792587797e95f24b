/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scale of a comparison, and what is to be said about it. */
#include "tally/diff.h"

#include <string.h>

static uint64_t total(const struct pmp_profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++)
		if (__builtin_add_overflow(sum, pmp_profile_entry(profile, i)->count, &sum))
			return UINT64_MAX;
	return sum;
}

/* The number of its snapshots; 0: not known. */
static uint64_t snapshots(const struct pmp_profile *profile)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	struct pmp_about about;

	pmp_profile_info(profile, &info);
	pmp_profile_about(profile, &about);
	return about.guessed ? 0 : info.samples;
}

struct pmp_scale pmp_diff_scale(const struct pmp_profile *profile,
				const struct pmp_profile *base)
{
	struct pmp_scale scale = { .to = snapshots(profile), .from = snapshots(base) };
	struct pmp_about about;

	pmp_profile_about(base, &about);
	/* Bytes in use are so many, however often somebody has looked. */
	if ((!scale.to || !scale.from) && *about.measure.type) {
		scale.to = scale.from = 1;
	} else if (!scale.to || !scale.from) {
		scale = (struct pmp_scale){ .to = total(profile), .from = total(base),
					    .by_totals = true };
	}
	/* Of nothing nothing can be made. */
	if (!scale.to || !scale.from)
		scale.to = scale.from = 1;
	return scale;
}

double pmp_diff_scaled(const struct pmp_scale *scale, uint64_t count)
{
	return (double)count * (double)scale->to / (double)scale->from;
}

/* The name that all its processes have, or NULL. */
static const char *only_process(const struct pmp_profile *profile)
{
	const struct pmp_entry *first = pmp_profile_entry(profile, 0);

	for (size_t i = 1; i < pmp_profile_entry_count(profile); i++)
		if (strcmp(pmp_profile_entry(profile, i)->process, first->process) != 0)
			return NULL;
	return first ? first->process : NULL;
}

const char *pmp_diff_process(const struct pmp_profile *profile,
			     const struct pmp_profile *base)
{
	const char *name = only_process(profile), *other = only_process(base);

	return name && other && strcmp(name, other) != 0 ? name : NULL;
}

void pmp_profile_diff_info(const struct pmp_profile *profile,
			   const struct pmp_profile *base, struct pmp_diff_info *info)
{
	const struct pmp_scale scale = pmp_diff_scale(profile, base);
	struct pmp_diff_info all = {
		.size = info->size,
		.factor = pmp_diff_scaled(&scale, 1),
		.by_totals = scale.by_totals,
		.counted = snapshots(profile) > 0,
		.base_counted = snapshots(base) > 0,
		.process = pmp_diff_process(profile, base),
	};

	if (all.process)
		all.base_process = only_process(base);
	memcpy(info, &all, info->size < sizeof(all) ? info->size : sizeof(all));
}
