/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Right-aligned numbers for the columns of tables. They avoid %f, whose decimal point
 * depends on the locale. */
#ifndef PMP_WRITE_TABLE_H
#define PMP_WRITE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "report/report.h"
#include "write/paths.h"

/* A count with its unit: "123", "1.50MB". */
void pmp_table_value(struct pmp_buf *buf, int width, uint64_t number,
		     const struct pmp_sample_type *sample_type);
void pmp_table_count(struct pmp_buf *buf, int width, uint64_t number);
/* part of whole in percent, with two decimals: "40.00" */
void pmp_table_percent(struct pmp_buf *buf, int width, uint64_t part, uint64_t whole);
/* ns as seconds with two decimals */
void pmp_table_seconds(struct pmp_buf *buf, int width, uint64_t time);
/* Appends a title, "300 stacks in 30 snapshots, 2.90 s, host db1" or "inuse_space
 * 1.50MB", and an empty line. */
void pmp_table_title(struct pmp_buf *buf, const char *what,
		     const struct pmp_report *report, uint64_t stacks);

/* ---- of comparisons ------------------------------------------------------------ */

/* A difference in percent of whole: "+8.16". "0.00" has no sign. */
void pmp_table_change(struct pmp_buf *buf, int width, double change, double whole);
/* Would the difference show as anything but 0.00? */
bool pmp_table_shows(double change, double whole);
/* Three columns of 8: base and profile in percent, and the difference. A column without a
 * value is "-". */
void pmp_table_compared(struct pmp_buf *buf, const struct pmp_paths *paths,
			uint64_t count, uint64_t base);
/* A line each for the report and its base, then an empty line. */
void pmp_table_titles(struct pmp_buf *buf, const struct pmp_paths *paths,
		      const struct pmp_report *report);

#endif
