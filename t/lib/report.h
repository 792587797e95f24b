/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes and writes a report of a profile in one step; for tests. */
#ifndef PMP_T_REPORT_H
#define PMP_T_REPORT_H

#include <stdlib.h>

#include "libpmp.h"

/* base: the profile to compare with, or NULL. Returns 0 or the
 * code of the first failure. */
static inline int report_write(struct pmp_profile *profile, struct pmp_profile *base,
			       const struct pmp_filter *filter,
			       const struct pmp_format *format,
			       const struct pmp_write_options *options,
			       const struct pmp_sink *sink, struct pmp_error *err)
{
	struct pmp_report_options what = {
		.size = sizeof(what),
		.snapshot = format && format->snapshots,
	};
	struct pmp_report *report = NULL, *base_report = NULL;
	int code = 0;

	if (base)
		code = pmp_report_new(base, filter, NULL, &base_report, err);
	what.base = base_report;
	if (!code)
		code = pmp_report_new(profile, filter, &what, &report, err);
	if (!code)
		code = pmp_report_write(report, format, options, sink, err);
	pmp_report_free(report);
	pmp_report_free(base_report);
	return code;
}

/* Get the facts about a comparison; strings are owned by the profiles. */
static inline void report_diff_info(struct pmp_profile *profile, struct pmp_profile *base,
				    struct pmp_diff_info *info)
{
	struct pmp_report_options what = { .size = sizeof(what) };
	struct pmp_report *report, *base_report;

	if (pmp_report_new(base, NULL, NULL, &base_report, NULL))
		abort();
	what.base = base_report;
	if (pmp_report_new(profile, NULL, &what, &report, NULL))
		abort();
	pmp_report_diff_info(report, info);
	pmp_report_free(report);
	pmp_report_free(base_report);
}

#endif
