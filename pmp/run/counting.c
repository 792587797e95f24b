/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See counting.h. */
#include "run/counting.h"

#include "fetch/fetcher.h"
#include "libpmp-program.h"
#include "run/clock.h"
#include "namer/namer.h"
#include "run/worker.h"
#include "say/message.h"

#define HISTORY_SHARE 4 /* the history may take a quarter of --max-memory on top of it */

static int make_profile(const struct counting *counting, bool saved,
			struct pmp_symbolizer *symbolizer, struct pmp_profile **profile,
			struct pmp_error *err)
{
	const struct counting_needs *needs = &counting->needs;
	const struct options *options = counting->options;
	const struct pmp_profile_options profile_options = {
		.size = sizeof(profile_options),
		.by_thread = options->by_thread,
		.command = saved ? NULL : counting->command_line,
		.period = saved ? 0 : options->interval,
		.host = saved ? NULL : counting->host,
		.max_memory =
			options->max_memory / (counting->share ? counting->share : 1),
		.for_filter = pmp_filter_wants_details(options->filter),
		.sample_type = options->sample_type,
		.keep_snapshot = needs->snapshots,
		/* Saved profiles already have details. */
		.details = needs->details || (saved && !options->diff),
		.times = needs->times,
		.waits = needs->waits,
		.history = needs->history ? options->max_memory / HISTORY_SHARE : 0,
		.history_time = options->history,
		.live = needs->live,
		.heap = saved || options->heap.on,
	};

	return pmp_profile_new(&profile_options, symbolizer, profile, err);
}

static void release(void *arg)
{
	worker_unlock(arg);
}

static void acquire(void *arg)
{
	worker_lock(arg);
}

static int make_symbolizer(const struct counting *counting, struct worker *worker,
			   struct pmp_symbolizer **symbolizer, struct pmp_error *err)
{
	const struct options *options = counting->options;
	const struct pmp_symbolizer_options symbolizer_options = {
		.size = sizeof(symbolizer_options),
		.no_symbols = options->no_symbols,
		.no_demangle = options->no_demangle,
		.no_inline = options->no_inline,
		.lines = counting->needs.lines,
		.debug_dir = options->debug_dir,
		.symfs = options->symfs,
		.fetch = counting->fetcher ? fetcher_get : NULL,
		.fetch_arg = counting->fetcher,
		.namer = namer_calls(counting->namer),
		.log = options->debug ? message_debug : NULL,
		.log_arg = (void *)options->debug,
		.release = worker ? release : NULL,
		.acquire = worker ? acquire : NULL,
		.lock_arg = worker,
		.all_at_once = counting->all_at_once,
	};

	return pmp_symbolizer_new(&symbolizer_options, symbolizer, err);
}

int counting_open(struct counting *counting, struct pmp_error *err)
{
	int code =
		make_symbolizer(counting, counting->worker, &counting->symbolizer, err);

	if (code < 0)
		return code;
	return make_profile(counting, counting->saved, counting->symbolizer,
			    &counting->profile, err);
}

int counting_add(const struct counting *counting, const struct pmp_sample *sample,
		 struct pmp_error *err)
{
	int code = 0;

	for (; counting && code >= 0; counting = counting->also)
		code = pmp_profile_add(counting->profile, sample, err);
	return code;
}

int counting_add_heap(const struct counting *counting, const struct pmp_heap_batch *batch,
		      struct pmp_error *err)
{
	int code = 0;

	for (; counting && code >= 0; counting = counting->also)
		code = pmp_profile_add_heap(counting->profile, batch, err);
	return code;
}

void counting_forget(const struct counting *counting, pid_t pid)
{
	for (; counting; counting = counting->also)
		pmp_profile_forget(counting->profile, pid);
}

void counting_interrupt(const struct counting *counting, pid_t pid)
{
	for (; counting; counting = counting->also)
		pmp_profile_interrupt(counting->profile, pid);
}

int counting_open_base(struct counting *counting, struct pmp_error *err)
{
	int code = make_symbolizer(counting, NULL, &counting->base_symbolizer, err);

	if (code < 0)
		return code;
	return make_profile(counting, true, counting->base_symbolizer, &counting->base,
			    err);
}

int counting_restart(struct counting *counting, struct pmp_error *err)
{
	struct pmp_profile *profile = NULL;
	int code = make_profile(counting, counting->saved, counting->symbolizer, &profile,
				err);

	if (code < 0)
		return code;
	/* Blocks stay live, and allocations count from the start of the process. */
	pmp_profile_take_heap(profile, counting->profile);
	pmp_report_free(counting->report);
	counting->report = NULL;
	pmp_profile_free(counting->profile);
	counting->profile = profile;
	return 0;
}

/* The values of a saved heap are of blocks of any age; only its blocks have one. */
static void choose_aged(const struct options *options, struct pmp_profile *profile,
			struct pmp_report_options *report)
{
	struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };
	struct pmp_profile_info info = { .size = sizeof(info) };

	if (!options->heap.age)
		return;
	pmp_profile_info(profile, &info);
	pmp_profile_describe(profile, &metadata);
	if (!info.heap_distinct || !options_is_heap_value(metadata.type))
		return;
	report->heap = true;
	report->heap_value = metadata.type;
	report->heap_age = options->heap.age;
}

static int make_report(struct counting *counting, struct pmp_error *err)
{
	const struct pmp_filter *filter = counting->options->filter;
	struct pmp_report_options base = { .size = sizeof(base) };
	struct pmp_report_options options = {
		.size = sizeof(options),
		.snapshot = counting->options->format->snapshots,
		.heap = options_count_heap(counting->options),
		.heap_value = counting->options->sample_type,
		.with_heap = counting->options->format->heap == PMP_HEAP_TOO,
		.heap_age = counting->options->heap.age,
		.heap_now = counting->saved ? NULL : now_ns,
	};
	int code = 0;

	if (counting->saved)
		choose_aged(counting->options, counting->profile, &options);
	if (counting->base)
		choose_aged(counting->options, counting->base, &base);
	if (counting->base && !counting->base_report)
		code = pmp_report_new(counting->base, filter, &base,
				      &counting->base_report, err);
	if (code < 0)
		return code;
	options.base = counting->base_report;
	return pmp_report_new(counting->profile, filter, &options, &counting->report,
			      err);
}

int counting_report(struct counting *counting, struct pmp_error *err)
{
	return counting->report ? pmp_report_update(counting->report, err)
				: make_report(counting, err);
}

void counting_close(struct counting *counting)
{
	pmp_report_free(counting->report);
	pmp_report_free(counting->base_report);
	pmp_profile_free(counting->profile);
	pmp_symbolizer_free(counting->symbolizer);
	pmp_profile_free(counting->base);
	pmp_symbolizer_free(counting->base_symbolizer);
}
