/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples are counted in. */
#include "run/new-profile.h"

#include "fetch/fetcher.h"
#include "say/message.h"

static int make_profile(const struct run *run, bool saved,
			struct pmp_symbolizer *symbolizer, struct pmp_profile **profile,
			struct pmp_error *err)
{
	struct sink_needs needs = { .live = false };
	struct pmp_profile_options options = {
		.size = sizeof(options),
		.by_thread = run->options.by_thread,
		.command = saved ? NULL : run->command_line,
		.period = saved ? 0 : run->options.interval,
		.host = saved ? NULL : run->host,
		.max_memory = run->options.max_memory,
		.for_filter = pmp_filter_wants_details(run->options.filter),
		.sample_type = run->options.sample_type,
	};

	run->sink->needs(&run->options, &needs);
	options.keep_snapshot = needs.snapshots;
	/* What has been saved has them already. */
	options.details = saved ? !run->options.diff : needs.details;
	options.times = needs.times;
	options.live = needs.live;
	return pmp_profile_new(&options, symbolizer, profile, err);
}

static void release(void *arg)
{
	worker_unlock(arg);
}

static void acquire(void *arg)
{
	worker_lock(arg);
}

static int make_symbolizer(const struct run *run, struct pmp_symbolizer **symbolizer,
			   struct pmp_error *err)
{
	const struct options *options = &run->options;
	struct sink_needs needs = { .live = false };
	struct pmp_symbolizer_options symbolizer_options = {
		.size = sizeof(symbolizer_options),
		.no_symbols = options->no_symbols,
		.no_demangle = options->no_demangle,
		.no_inline = options->no_inline,
		.debug_dir = options->debug_dir,
		.symfs = options->symfs,
		.fetch = run->fetcher ? fetcher_get : NULL,
		.fetch_arg = run->fetcher,
		.log = options->debug ? message_debug : NULL,
		.log_arg = (void *)options->debug,
	};

	run->sink->needs(options, &needs);
	symbolizer_options.lines = needs.lines;
	/* The worker lets the lock go while it reads files. */
	if (run->worker) {
		symbolizer_options.release = release;
		symbolizer_options.acquire = acquire;
		symbolizer_options.lock_arg = run->worker;
	}
	return pmp_symbolizer_new(&symbolizer_options, symbolizer, err);
}

int counting_make(const struct run *run, bool saved, struct pmp_symbolizer **symbolizer,
		  struct pmp_profile **profile, struct pmp_error *err)
{
	int code = make_symbolizer(run, symbolizer, err);

	return code < 0 ? code : make_profile(run, saved, *symbolizer, profile, err);
}

int counting_restart(struct run *run, struct pmp_error *err)
{
	struct pmp_profile *old = run->profile;
	int code = make_profile(run, run->source->saved, run->symbolizer, &run->profile,
				err);

	if (code < 0) {
		run->profile = old;
		return code;
	}
	pmp_report_free(run->report);
	run->report = NULL;
	pmp_profile_free(old);
	return 0;
}

static int make_report(struct run *run, struct pmp_error *err)
{
	const struct pmp_filter *filter = run->options.filter;
	struct pmp_report_options options = {
		.size = sizeof(options),
		.snapshot = run->options.format->snapshots,
	};
	int code = 0;

	if (run->base && !run->base_report)
		code = pmp_report_new(run->base, filter, NULL, &run->base_report, err);
	if (code < 0)
		return code;
	options.base = run->base_report;
	return pmp_report_new(run->profile, filter, &options, &run->report, err);
}

int counting_report(struct run *run, struct pmp_error *err)
{
	return run->report ? pmp_report_update(run->report, err) : make_report(run, err);
}
