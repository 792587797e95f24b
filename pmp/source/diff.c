/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The base has a symbolizer of its own: it may be of another build, whose names must not be
 * confused with those of the profile.
 */
#include "source/diff.h"

#include <stdio.h>
#include <string.h>

#include "run/counting.h"
#include "say/message.h"
#include "source/saved.h"
#include "source/source.h"

/* Report rates and durations that differ by this factor. */
#define RATIO 2
#define RATE_SIZE 32

int diff_read(struct source *source)
{
	struct counting *counting = source->counting;
	struct pmp_error err = { 0 };
	int status;

	if (!counting->options->diff)
		return 0;
	if (counting_open_base(counting, &err) < 0) {
		message_error(&err);
		return message_status(err.code);
	}
	status = saved_read(source, counting->base, counting->options->diff, NULL, NULL);
	/* Saved profiles are checked later, when they have been read. */
	return status || counting->saved ? status : diff_check(counting);
}

/* What is compared: for running processes their stacks, or a value of their heaps. */
static void describe(const struct counting *counting,
		     struct pmp_profile_metadata *metadata)
{
	const struct options *options = counting->options;

	*metadata = (struct pmp_profile_metadata){ .size = sizeof(*metadata),
						   .type = "",
						   .unit = "" };
	if (counting->saved) {
		pmp_profile_describe(counting->profile, metadata);
	} else if (options_count_heap(options)) {
		metadata->type =
			options->sample_type ? options->sample_type : "inuse_space";
		metadata->unit = strstr(metadata->type, "_space") ? "bytes" : "count";
	}
}

int diff_check(const struct counting *counting)
{
	struct pmp_profile_metadata base = { .size = sizeof(base) }, metadata;
	char type[128], base_type[128];

	if (!counting->base)
		return 0;
	pmp_profile_describe(counting->base, &base);
	describe(counting, &metadata);
	if (strcmp(base.type, metadata.type) == 0 &&
	    strcmp(base.unit, metadata.unit) == 0)
		return 0;
	message_print(
		"--sample-type chooses what is counted of saved profiles",
		"cannot compare %s with a base of %s",
		pmp_escape(*metadata.type ? metadata.type : "stacks", type, sizeof(type)),
		pmp_escape(*base.type ? base.type : "stacks", base_type,
			   sizeof(base_type)));
	return PMP_EXIT_USAGE;
}

static bool far_apart(double a, double b)
{
	return a > RATIO * b || b > RATIO * a;
}

/* The duration in seconds, and the snapshots of a process per second; 0: not known. */
static void find_pace(const struct pmp_profile *profile, double *time, double *rate)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(profile, &info);
	*time = (double)(info.last_time - info.first_time) / 1e9;
	*rate = *time > 0 && info.rounds > 1 ? (double)(info.rounds - 1) / *time : 0;
}

/* "10", "4.1", "0.25" */
static const char *hertz(double rate, char text[RATE_SIZE])
{
	snprintf(text, RATE_SIZE, rate >= 10 ? "%.0f" : "%.2g", rate);
	return text;
}

/* Called if both profiles know their number of snapshots. */
static void summary_pace(const struct counting *counting)
{
	double base_time, time, base_rate, rate;
	char base_hertz[RATE_SIZE], its_hertz[RATE_SIZE];

	find_pace(counting->base, &base_time, &base_rate);
	find_pace(counting->profile, &time, &rate);
	if (far_apart(base_time, time))
		message_note(NULL,
			     "the base covers %.1f s, this profile %.1f s: what is "
			     "rare may be in one of them only",
			     base_time, time);
	if (base_rate > 0 && rate > 0 && far_apart(base_rate, rate))
		message_note(NULL,
			     "the base was sampled at %s Hz, this profile at %s Hz: "
			     "what is short may be in one of them only",
			     hertz(base_rate, base_hertz), hertz(rate, its_hertz));
}

/* Heaps are compared as they are, however long they were recorded. */
static bool is_of_heap(const struct pmp_profile *profile)
{
	struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };

	pmp_profile_describe(profile, &metadata);
	return options_is_heap_value(metadata.type);
}

void diff_report(const struct counting *counting)
{
	struct pmp_diff_info info = { .size = sizeof(info) };
	char name[256], base_name[256];

	if (!counting->report)
		return;
	pmp_report_diff_info(counting->report, &info);
	if (info.process)
		message_note(NULL,
			     "the base is of %s, this profile of %s: taken for the "
			     "same",
			     pmp_escape(info.base_process, base_name, sizeof(base_name)),
			     pmp_escape(info.process, name, sizeof(name)));
	if (info.by_totals)
		message_note(NULL,
			     "%s does not record its number of snapshots: compared by "
			     "totals, the base's counts times %.3g",
			     info.base_counted ? "this profile" : "the base",
			     info.factor);
	else if (!is_of_heap(counting->base))
		summary_pace(counting);
}
