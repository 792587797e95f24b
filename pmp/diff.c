/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A base to compare with has a symbolizer of its own: it may be of another build, and
 * its names must not be taken for those of what is sampled now.
 */
#include "diff.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "message.h"
#include "saved.h"

/* Rates and durations that differ by this much are worth a message. */
#define RATIO 2

int pmp_diff_read(struct pmp_app *app)
{
	struct pmp_error err = { 0 };

	if (!app->options.diff)
		return 0;
	if (pmp_front_make(app, true, &app->base_symbolizer, &app->base, &err) < 0) {
		pmp_message_error(&err);
		return pmp_message_status(err.code);
	}
	return pmp_saved_read_one(app->base, app->options.diff, NULL);
}

unsigned pmp_diff_columns(const struct pmp_app *app)
{
	struct winsize size = { 0 };

	if (!app->base || app->options.output ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

static bool far_apart(double a, double b)
{
	return a > RATIO * b || b > RATIO * a;
}

/* Both know their snapshots. */
static void report_sampling(const struct pmp_app *app)
{
	struct pmp_profile_info base = { .size = sizeof(base) };
	struct pmp_profile_info info = { .size = sizeof(info) };
	double base_time, time, base_rate, rate;

	pmp_profile_info(app->base, &base);
	pmp_profile_info(app->profile, &info);
	base_time = (double)(base.last_time - base.first_time) / 1e9;
	time = (double)(info.last_time - info.first_time) / 1e9;
	base_rate = base_time > 0 ? (double)base.samples / base_time : 0;
	rate = time > 0 ? (double)info.samples / time : 0;
	if (far_apart(base_time, time))
		pmp_message_print(NULL, "the base covers %.1f s, this profile %.1f s: what is "
				  "rare may be in one of them only", base_time, time);
	if (base_rate > 0 && rate > 0 && far_apart(base_rate, rate))
		pmp_message_print(NULL, "the base was sampled at %.2g Hz, this profile at %.2g "
				  "Hz: what is short may be in one of them only", base_rate,
				  rate);
}

void pmp_diff_report(const struct pmp_app *app)
{
	struct pmp_diff_info info = { .size = sizeof(info) };
	char name[256], base_name[256];

	pmp_profile_diff_info(app->profile, app->base, &info);
	if (info.process)
		pmp_message_print(NULL, "the base is of %s, this profile of %s: taken for the "
				  "same",
				  pmp_escape(info.base_process, base_name, sizeof(base_name)),
				  pmp_escape(info.process, name, sizeof(name)));
	if (info.by_totals)
		pmp_message_print(NULL, "%s does not tell its number of snapshots: compared by "
				  "totals, the base's counts times %.3g",
				  info.base_counted ? "this profile" : "the base", info.factor);
	else
		report_sampling(app);
}
