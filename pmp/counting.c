/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples are counted in. */
#include "counting.h"

#include "fetcher.h"
#include "message.h"
#include "view/session.h"

static int make_profile(const struct pmp_app *app, bool saved,
			struct pmp_symbolizer *symbolizer, struct pmp_profile **profile,
			struct pmp_error *err)
{
	const bool live = app->session != NULL;
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.by_thread = app->options.by_thread,
		.keep_rounds = app->options.format->snapshots,
		.command = saved ? NULL : app->command_line,
		.details = !app->options.diff &&
			   (saved || live || app->options.by_state ||
			    app->options.format->details),
		.times = app->options.format->times,
		.period = saved ? 0 : app->options.interval,
		.host = saved ? NULL : app->host,
		.live = live,
		.max_memory = app->options.max_memory,
		.filter = app->options.filter,
		.sample_type = app->options.sample_type,
	};

	return pmp_profile_new(&options, symbolizer, profile, err);
}

static int make_symbolizer(const struct pmp_app *app, struct pmp_symbolizer **symbolizer,
			   struct pmp_error *err)
{
	const struct pmp_options *options = &app->options;
	struct pmp_symbolizer_options symbolizer_options = {
		.size = sizeof(symbolizer_options),
		.no_symbols = options->no_symbols,
		.no_demangle = options->no_demangle,
		.no_inline = options->no_inline,
		.lines = options->lines || options->format->details,
		.debug_dir = options->debug_dir,
		.symfs = options->symfs,
		.fetch = app->fetcher ? pmp_fetcher_get : NULL,
		.fetch_arg = app->fetcher,
		.log = options->debug ? pmp_message_debug : NULL,
		.log_arg = (void *)options->debug,
	};
	pmp_session_symbolizer(app->session, &symbolizer_options);
	return pmp_symbolizer_new(&symbolizer_options, symbolizer, err);
}

int pmp_counting_make(const struct pmp_app *app, bool saved,
		   struct pmp_symbolizer **symbolizer, struct pmp_profile **profile,
		   struct pmp_error *err)
{
	int code = make_symbolizer(app, symbolizer, err);

	return code < 0 ? code : make_profile(app, saved, *symbolizer, profile, err);
}

int pmp_counting_restart(struct pmp_app *app, struct pmp_error *err)
{
	struct pmp_profile *old = app->profile;
	int code = make_profile(app, app->options.file_count > 0, app->symbolizer,
				&app->profile, err);

	if (code < 0)
		app->profile = old;
	else
		pmp_profile_free(old);
	return code;
}
