/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lookup.h. There is one job, which is submitted again when more names are needed. */
#include "sink/lookup.h"

#include <stdlib.h>

#include "base/fault.h"
#include "libpmp-program.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/worker.h"
#include "sink/sink.h"

#define FEW 1000	       /* names in open files, which take some ms */
#define SOON (500 * NS_PER_MS) /* then the time line does without names */
#define ROUNDS_MAX 8	       /* bounded, as new locations may keep coming */

struct name_lookup {
	const struct sink *sink;
	struct job job;
	bool all;	/* not only names that tell of locks */
	uint64_t since; /* when the wait for locks began, or 0 */
};

struct name_lookup *lookup_new(struct sink *sink)
{
	struct name_lookup *lookup = calloc(1, sizeof(*lookup));

	if (!lookup)
		return NULL;
	lookup->sink = sink;
	lookup->job.done = true;
	return lookup;
}

void lookup_free(struct name_lookup *lookup)
{
	free(lookup);
}

/* ---- in the worker -------------------------------------------------------------------- */

static void name_locks(const struct sink *sink)
{
	pmp_profile_name_locks(sink->counting->profile, sink->options->filter);
}

static void name_all(const struct sink *sink)
{
	struct pmp_symbolizer *symbolizer = sink->counting->symbolizer;

	for (size_t i = 0; i < pmp_symbolizer_location_count(symbolizer) &&
			   !worker_is_wanted(sink->namer);
	     i++)
		pmp_symbolizer_name(symbolizer, (pmp_location)i);
}

/* Samples are counted whenever the symbolizer releases the lock. */
static void work(void *arg)
{
	const struct name_lookup *lookup = arg;
	const struct sink *sink = lookup->sink;

	name_locks(sink);
	for (int i = 0; i < ROUNDS_MAX && lookup->all && !worker_is_wanted(sink->namer) &&
			pmp_symbolizer_unnamed(sink->counting->symbolizer);
	     i++)
		name_all(sink);
}

/* ---- in the loop ---------------------------------------------------------------------- */

static bool are_few(const struct name_lookup *lookup)
{
	const struct pmp_symbolizer *symbolizer = lookup->sink->counting->symbolizer;

	return !pmp_symbolizer_must_open(symbolizer) &&
	       pmp_symbolizer_unnamed(symbolizer) <= FEW;
}

bool lookup_goes_on(const struct name_lookup *lookup)
{
	return !worker_has_done(&lookup->job);
}

/* False: there is no thread, so the caller must look up names itself. */
static bool begin(struct name_lookup *lookup, bool all)
{
	if (lookup_goes_on(lookup)) {
		lookup->all |= all;
		return true;
	}
	lookup->all = all;
	lookup->job.work = work;
	lookup->job.arg = lookup;
	return !PMP_FAULT("names-in-front") &&
	       worker_submit(lookup->sink->namer, &lookup->job);
}

bool lookup_is_done(struct name_lookup *lookup)
{
	if (!lookup_goes_on(lookup) && are_few(lookup))
		return true;
	return !begin(lookup, true);
}

/* Runs in the other worker. */
static void name_locks_there(void *arg)
{
	name_locks(arg);
}

bool lookup_knows_locks(struct name_lookup *lookup)
{
	const struct sink *sink = lookup->sink;

	if (!pmp_profile_has_unnamed_locks(sink->counting->profile)) {
		lookup->since = 0;
		return true;
	}
	if (lookup_goes_on(lookup) || (!are_few(lookup) && begin(lookup, false)))
		return false;
	sink->calls->work(sink->run, name_locks_there, (void *)sink);
	lookup->since = 0;
	return true;
}

bool lookup_knows_locks_soon(struct name_lookup *lookup)
{
	const uint64_t now = now_ns();

	if (lookup_knows_locks(lookup))
		return true;
	if (!lookup->since)
		lookup->since = now;
	return now - lookup->since > SOON;
}

void lookup_await(struct name_lookup *lookup)
{
	if (lookup_goes_on(lookup))
		lookup->sink->calls->await(lookup->sink->run, &lookup->job);
}
